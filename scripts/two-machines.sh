#!/bin/sh
# Runs hlo-run on the ranks of two machines that share only a network. The machines are two network namespaces of this machine,
# each with its own host name. A script replaces ssh between them. This needs root; otherwise the script prints a message and
# skips the test. HLO_RUN is the path of an hlo-run with the feature mpi.
set -eu
cd "$(dirname "$0")/.."

say() { echo "two-machines: $*"; }
if [ "$(id -u)" -ne 0 ] || ! command -v ip >/dev/null 2>&1 || ! command -v unshare >/dev/null 2>&1; then
    say "skipped: this needs root, ip (iproute2) and unshare (util-linux)"
    exit 0
fi

folder=$(mktemp -d)
first=hlo-first-$$
second=hlo-second-$$
a=ha$$
b=hb$$
ran=0
cleanup() {
    ip netns del "$first" 2>/dev/null || true
    ip netns del "$second" 2>/dev/null || true
    rm -rf "$folder"
}
trap cleanup EXIT
if ! ip netns add "$first" 2>"$folder/why"; then
    say "skipped: no network namespace can be made here: $(cat "$folder/why")"
    exit 0
fi
ip netns add "$second"
if ! ip link add "$a" type veth peer name "$b" 2>"$folder/why"; then
    say "skipped: no network can be made here: $(cat "$folder/why")"
    exit 0
fi
ip link set "$a" netns "$first"
ip link set "$b" netns "$second"
ip -n "$first" addr add 10.213.0.1/24 dev "$a"
ip -n "$second" addr add 10.213.0.2/24 dev "$b"
for where in "$first:$a" "$second:$b"; do
    ip -n "${where%%:*}" link set lo up
    ip -n "${where%%:*}" link set "${where#*:}" up
done

# The replacement for ssh. Its arguments are the address and the command.
cat >"$folder/rsh" <<RSH
#!/bin/sh
case \$1 in
10.213.0.1) space=$first name=first ;;
10.213.0.2) space=$second name=second ;;
*) echo "no machine \$1" >&2; exit 255 ;;
esac
shift
exec ip netns exec \$space unshare --uts sh -c "hostname \$name; \$*"
RSH
chmod +x "$folder/rsh"
printf '10.213.0.1 slots=2\n10.213.0.2 slots=2\n' >"$folder/hosts"

hlo_run=${HLO_RUN-}
if [ -z "$hlo_run" ]; then
    cargo build --locked --features mpi --bin hlo-run
    hlo_run=${CARGO_TARGET_DIR-target}/debug/hlo-run
fi
hlo_run=$(realpath "$hlo_run")

# Runs a command on two ranks of each machine. The machines communicate only over the network.
on_both() {
    "$folder/rsh" 10.213.0.1 mpirun --allow-run-as-root --hostfile "$folder/hosts" -n 4 \
        --mca plm_rsh_agent "$folder/rsh" --mca btl_tcp_if_include 10.213.0.0/24 \
        --mca oob_tcp_if_include 10.213.0.0/24 "$@"
}

names=$(on_both hostname | sort | uniq -c | tr -s ' \n' ' ')
case $names in
*"2 first"*"2 second"*) ;;
*)
    say "expected two ranks on each machine, found:$names"
    exit 1
    ;;
esac
for case in psum_basic ring_attention moe_all_to_all dp_mlp_train_step; do
    [ -d "test/corpus/$case" ] || continue
    on_both "$hlo_run" --case "$(pwd)/test/corpus/$case" -q --timeout 120
    say "$case: two ranks on each of two machines give what is expected"
    ran=$((ran + 1))
done
if [ "$ran" -eq 0 ]; then
    say "none of the cases is there"
    exit 1
fi
