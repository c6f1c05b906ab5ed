//! Values that are written to the memory of an operand: the state of loops, results that are aliased to
//! operands, and results of computations with a fixed destination. If that memory is still needed, or the
//! computation may not overwrite it, the value gets a buffer of its own, because a copy is needed.

use crate::buffers::{Buffer, BufferKind, Buffers};
use crate::in_place::{self, InPlace};
use crate::leaves::first_leaf_at;
use crate::{Invariants, Roles, is_alias};
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

impl Buffers {
    /// Finds the buffers of a computation that runs in the given order.
    pub fn in_order(module: &Module, computation: ComputationId, order: &[InstrId], roles: &Roles) -> Self {
        let mut out = Self::values(module, order);
        let destinations = out.destinations(module, computation, roles.owns_parameters(computation));
        let owned = destinations.into_iter().flatten().collect();
        let joined = out.joined(module, computation, order, &owned);
        out.join(&joined);
        out
    }

    /// Returns the values in whose memory the results must be stored: for a body, its state; for the entry,
    /// the parameters whose memory results share.
    pub fn destinations(
        &self,
        module: &Module,
        computation: ComputationId,
        is_body: bool,
    ) -> Vec<Option<usize>> {
        if !module.has_root(computation) {
            return Vec::new();
        }
        let root = module[computation].root();
        let parameters = module.parameters(computation);
        let mut destinations = vec![None; self.leaves(root).len()];
        if let (true, &[state]) = (is_body, &parameters[..]) {
            for (destination, &value) in destinations.iter_mut().zip(self.leaves(state)) {
                *destination = Some(value);
            }
        }
        if module.entry_if_set() != Some(computation) {
            return destinations;
        }
        for alias in &module.header.input_output_alias {
            let parameter = usize::try_from(alias.parameter).ok().and_then(|n| parameters.get(n)).copied();
            let output = first_leaf_at(&module[root].shape, &alias.output);
            let place = parameter
                .and_then(|p| first_leaf_at(&module[p].shape, &alias.parameter_index).map(|n| (p, n)));
            if let (Some(output), Some((parameter, leaf))) = (output, place)
                && let (Some(destination), Some(&value)) =
                    (destinations.get_mut(output), self.leaves(parameter).get(leaf))
            {
                *destination = Some(value);
            }
        }
        destinations
    }

    /// Returns for each value that overwrites another value, that other value. A value may be overwritten if
    /// nothing reads it later and it is either a temporary or one of `owned`.
    fn joined(
        &self,
        module: &Module,
        computation: ComputationId,
        order: &[InstrId],
        owned: &HashSet<usize>,
    ) -> HashMap<usize, usize> {
        let (mut joined, mut memories) = (HashMap::new(), HashSet::new());
        let writes = |&i: &InstrId| matches!(module[i].op, Op::While(_) | Op::Fusion(_) | Op::CustomCall(_));
        if !order.iter().any(writes) {
            return joined;
        }
        let mut invariants = Invariants::default();
        let read = self.last_reads(module, computation, order);
        for (at, &id) in order.iter().enumerate() {
            let written = in_place::aliased(module, id, &mut invariants);
            if written.is_empty() {
                continue;
            }
            let places: HashSet<(usize, usize)> = written.iter().map(|w| (w.operand, w.leaf)).collect();
            // The values that the instruction also reads elsewhere, and the values that are already
            // overwritten.
            let mut needed: HashSet<usize> = HashSet::new();
            for (operand, &o) in module[id].operands.iter().enumerate() {
                let rest = self.leaves(o).iter().enumerate();
                needed.extend(rest.filter(|(leaf, _)| !places.contains(&(operand, *leaf))).map(|(_, &b)| b));
            }
            for InPlace { operand, leaf, result } in written {
                let argument = module[id].operands.get(operand).map_or(&[][..], |&o| self.leaves(o));
                let (Some(&from), Some(&to)) = (argument.get(leaf), self.leaves(id).get(result)) else {
                    continue;
                };
                let memory = joined.get(&from).copied().unwrap_or(from);
                let own = self.list[memory].kind == BufferKind::Temporary || owned.contains(&memory);
                let read_later = read.get(from).is_none_or(|&last| last > at);
                // In an invalid order, a value may be overwritten before it is defined.
                let in_order = to != memory && !memories.contains(&to) && !joined.contains_key(&to);
                if own && !read_later && in_order && needed.insert(from) {
                    memories.insert(memory);
                    joined.insert(to, memory);
                }
            }
        }
        joined
    }

    /// Returns the position of the last read of each value. For results this is one past the end of the
    /// order.
    fn last_reads(&self, module: &Module, computation: ComputationId, order: &[InstrId]) -> Vec<usize> {
        let mut out = vec![0; self.list.len()];
        for (at, &id) in order.iter().enumerate() {
            // An alias is not a read. Only the reads through it are.
            if !is_alias(module, id) {
                module[id].operands.iter().flat_map(|&o| self.leaves(o)).for_each(|&b| out[b] = at);
            }
        }
        if module.has_root(computation) {
            self.leaves(module[computation].root()).iter().for_each(|&b| out[b] = order.len());
        }
        out
    }

    /// Merges each value with the buffer that it overwrites.
    fn join(&mut self, joined: &HashMap<usize, usize>) {
        if joined.is_empty() {
            return;
        }
        let mut place = Vec::with_capacity(self.list.len());
        let mut list: Vec<Buffer> = Vec::with_capacity(self.list.len());
        for (n, buffer) in std::mem::take(&mut self.list).into_iter().enumerate() {
            place.push(list.len());
            if !joined.contains_key(&n) {
                list.push(buffer);
            }
        }
        for (&to, &memory) in joined {
            place[to] = place[memory];
        }
        self.list = list;
        // Instructions that shared a list still share it afterwards.
        let mut done: HashMap<*const usize, Rc<[usize]>> = HashMap::new();
        for leaves in self.of.values_mut().filter(|l| !l.is_empty()) {
            let new = done
                .entry(leaves.as_ptr())
                .or_insert_with(|| leaves.iter().map(|&b| place[b]).collect::<Vec<_>>().into());
            *leaves = Rc::clone(new);
        }
    }

    /// Adds memory for the results that must be copies: parameters, constants, and values that occur in
    /// several results. A result that is already in its destination needs no copy. Returns the new buffers.
    pub(crate) fn add_results(
        &mut self,
        module: &Module,
        computation: ComputationId,
        roles: &Roles,
    ) -> std::ops::Range<usize> {
        let first = self.list.len();
        if !module.has_root(computation)
            || !roles.run.contains(&computation)
            || roles.is_condition(computation)
        {
            return first..first;
        }
        let root = module[computation].root();
        let destinations = self.destinations(module, computation, roles.owns_parameters(computation));
        let mut seen: HashSet<usize> = HashSet::new();
        let leaves: Vec<usize> = self.leaves(root).to_vec();
        for (leaf, value) in leaves.into_iter().enumerate() {
            let Some(&Buffer { bytes, kind, .. }) = self.list.get(value) else { continue };
            let in_place = destinations.get(leaf) == Some(&Some(value));
            let own = kind == BufferKind::Temporary && seen.insert(value);
            if bytes > 0 && !in_place && !own {
                self.list.push(Buffer { instruction: root, leaf, bytes, kind: BufferKind::Temporary });
            }
        }
        first..self.list.len()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Liveness, ModuleLiveness};
    use hlo_ir::{Module, Op};

    const N: u64 = 4096;

    /// The computations of a loop: `c`, and `b`, which reverses element 1 and keeps element 2.
    const LOOP: &str = "
        c { s = (s32[], f32[1024], f32[1024]) parameter(0)
            i = s32[] get-tuple-element(s), index=0
            n = s32[] constant(10)
            ROOT t = pred[] compare(i, n), direction=LT }
        b { s = (s32[], f32[1024], f32[1024]) parameter(0)
            i = s32[] get-tuple-element(s), index=0
            x = f32[1024] get-tuple-element(s), index=1
            y = f32[1024] get-tuple-element(s), index=2
            one = s32[] constant(1)
            j = s32[] add(i, one)
            r = f32[1024] reverse(x), dimensions={0}
            ROOT t = (s32[], f32[1024], f32[1024]) tuple(j, r, y) }";

    fn entry(computations: &str, entry: &str) -> (Module, Liveness) {
        let text = format!("HloModule m\n{computations}\nENTRY e {{ {entry} }}");
        let module = hlo_parser::parse_module(&text).expect("a module");
        let liveness = ModuleLiveness::of(&module).get(module.entry()).expect("the entry").clone();
        (module, liveness)
    }

    /// Returns the bytes that are live while the entry's first loop runs: around the loop and inside it.
    fn at_loop(computations: &str, text: &str) -> (u64, u64) {
        let (m, l) = entry(computations, text);
        let at = l.order.iter().position(|&i| matches!(m[i].op, Op::While(_))).expect("a loop");
        (l.live[at] - l.called[at], l.called[at])
    }

    fn peak(computations: &str, text: &str) -> u64 {
        entry(computations, text).1.peak()
    }

    #[test]
    fn what_a_loop_changes_of_parameters_and_constants_is_copied() {
        let text = "p = f32[1024] parameter(0)
            w = f32[1024] parameter(1)
            z = s32[] constant(0)
            i = (s32[], f32[1024], f32[1024]) tuple(z, p, w)
            l = (s32[], f32[1024], f32[1024]) while(i), condition=c, body=b
            x = f32[1024] get-tuple-element(l), index=1
            y = f32[1024] get-tuple-element(l), index=2
            ROOT r = (f32[1024], f32[1024]) tuple(x, y)";
        // The counter and the first array are copied; the second array is not. The body needs the next
        // counter and array.
        assert_eq!(at_loop(LOOP, text), (4 + N, 4 + N));
        // The second array is copied after the loop, because it is a result.
        let (_, l) = entry(LOOP, text);
        assert_eq!((l.live.last(), l.peak()), (Some(&(2 * N)), 2 * (4 + N)));
    }

    #[test]
    fn a_value_that_is_read_later_is_copied() {
        let text = |last: &str| {
            format!(
                "p = f32[1024] parameter(0)
                 n = f32[1024] negate(p)
                 z = s32[] constant(0)
                 i = (s32[], f32[1024], f32[1024]) tuple(z, n, p)
                 l = (s32[], f32[1024], f32[1024]) while(i), condition=c, body=b
                 x = f32[1024] get-tuple-element(l), index=1
                 {last}"
            )
        };
        let free = text("ROOT r = f32[1024] add(x, p)");
        assert_eq!(at_loop(LOOP, &free), (4 + N, 4 + N));
        let read = text("ROOT r = f32[1024] add(x, n)");
        assert_eq!(at_loop(LOOP, &read), (4 + 2 * N, 4 + N));
        let result = text("ROOT r = (f32[1024], f32[1024]) tuple(x, n)");
        assert_eq!(at_loop(LOOP, &result), (4 + 2 * N, 4 + N));
        let kept = free.replace("tuple(z, n, p)", "tuple(z, n, n)");
        assert_eq!(at_loop(LOOP, &kept), (4 + 2 * N, 4 + N));
    }

    #[test]
    fn a_loop_continues_where_another_one_ended() {
        let text = "p = f32[1024] parameter(0)
            n = f32[1024] negate(p)
            z = s32[] constant(0)
            i = (s32[], f32[1024], f32[1024]) tuple(z, n, p)
            l = (s32[], f32[1024], f32[1024]) while(i), condition=c, body=b
            x = f32[1024] get-tuple-element(l), index=1
            i2 = (s32[], f32[1024], f32[1024]) tuple(z, x, p)
            l2 = (s32[], f32[1024], f32[1024]) while(i2), condition=c, body=b
            ROOT r = f32[1024] get-tuple-element(l2), index=1";
        assert_eq!(peak(LOOP, text), 2 * (4 + N));
    }

    #[test]
    fn the_state_of_a_loop_is_its_bodys_to_change() {
        let outer = format!(
            "{LOOP}
            c2 {{ s = (f32[1024], f32[1024]) parameter(0)
                 ROOT t = pred[] constant(false) }}
            b2 {{ s = (f32[1024], f32[1024]) parameter(0)
                 x = f32[1024] get-tuple-element(s), index=0
                 y = f32[1024] get-tuple-element(s), index=1
                 z = s32[] constant(0)
                 i = (s32[], f32[1024], f32[1024]) tuple(z, x, y)
                 l = (s32[], f32[1024], f32[1024]) while(i), condition=c, body=b
                 n = f32[1024] get-tuple-element(l), index=1
                 ROOT t = (f32[1024], f32[1024]) tuple(n, y) }}"
        );
        let text = "p = f32[1024] parameter(0)
            i = (f32[1024], f32[1024]) tuple(p, p)
            l = (f32[1024], f32[1024]) while(i), condition=c2, body=b2
            ROOT r = f32[1024] get-tuple-element(l), index=0";
        // One copy of p. Inside are the counter and the memory of the inner loop.
        assert_eq!(at_loop(&outer, text), (N, 4 + 4 + N));
    }

    #[test]
    fn results_of_a_body_that_are_not_in_their_places_are_copied() {
        let body = |result: &str| {
            format!(
                "c {{ s = (f32[1024], (f32[1024])) parameter(0)
                     ROOT t = pred[] constant(false) }}
                 b {{ s = (f32[1024], (f32[1024])) parameter(0)
                     x = f32[1024] get-tuple-element(s), index=0
                     inner = (f32[1024]) get-tuple-element(s), index=1
                     y = f32[1024] get-tuple-element(inner), index=0
                     k = f32[1024] constant({{...}})
                     {result} }}"
            )
        };
        let text = "p = f32[1024] parameter(0)
            inner = (f32[1024]) tuple(p)
            i = (f32[1024], (f32[1024])) tuple(p, inner)
            l = (f32[1024], (f32[1024])) while(i), condition=c, body=b
            ROOT r = f32[1024] get-tuple-element(l), index=0";
        let swapped = body("n = (f32[1024]) tuple(x)\n ROOT t = (f32[1024], (f32[1024])) tuple(y, n)");
        assert_eq!(at_loop(&swapped, text), (2 * N, 2 * N));
        let constant = body("ROOT t = (f32[1024], (f32[1024])) tuple(k, inner)");
        assert_eq!(at_loop(&constant, text), (N, N));
        let kept = body("n = (f32[1024]) tuple(y)\n ROOT t = (f32[1024], (f32[1024])) tuple(x, n)");
        assert_eq!(at_loop(&kept, text), (0, 0));
        let whole = body("ROOT t = (f32[1024], (f32[1024])) opt-barrier(s)");
        assert_eq!(at_loop(&whole, text), (0, 0));
    }

    #[test]
    fn results_of_the_entry_are_not_parameters_nor_constants_nor_the_same() {
        assert_eq!(peak("", "ROOT p = f32[1024] parameter(0)"), N);
        assert_eq!(peak("", "ROOT c = f32[1024] constant({...})"), N);
        let several = "p = f32[1024] parameter(0)
            n = f32[1024] negate(p)
            ROOT t = (f32[1024], f32[1024], f32[1024]) tuple(p, n, n)";
        assert_eq!(peak("", several), 3 * N);
        let aliased = hlo_parser::parse_module(&format!(
            "HloModule m, input_output_alias={{ {{0}}: (0, {{}}, may-alias) }}\nENTRY e {{ {several} }}"
        ));
        let aliased = aliased.expect("a module");
        let liveness = ModuleLiveness::of(&aliased);
        assert_eq!(liveness.get(aliased.entry()).map(Liveness::peak), Some(2 * N));
    }

    #[test]
    fn a_call_and_a_branch_that_return_what_they_get_have_results() {
        let same = "f { ROOT p = f32[1024] parameter(0) }";
        let call = "p = f32[1024] parameter(0)
            ROOT r = f32[1024] call(p), to_apply=f";
        assert_eq!(peak(same, call), N);
        let branch = "p = f32[1024] parameter(0)
            q = pred[] parameter(1)
            ROOT r = f32[1024] conditional(q, p, p), true_computation=f, false_computation=f";
        assert_eq!(peak(same, branch), N);
    }
}
