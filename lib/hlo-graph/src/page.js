'use strict';
// The pages are laid out with all boxes closed. Where a box opens, what stands beside it in its rank moves away to both
// sides, and all that is below moves down, by as much as the box grows: boxes that did not overlap never will.
const data = JSON.parse(document.getElementById('data').textContent);
const picture = document.getElementById('picture');
const details = document.getElementById('details');
const FRAME = data.frame, LINE = data.line;
const CRITICAL = '#d4380d', WIRE = '#7d8590';

// A page on the screen: which of its boxes are open, and the pages inside of these.
function instance(number) {
  return { page: data.pages[number], open: new Map() };
}

function openBox(inst, n) {
  inst.open.set(n, inst.page.nodes[n].inner.map(([role, page]) => ({ role, inst: instance(page) })));
}

const MOST = 4000;
function openAll(inst, budget) {
  inst.page.nodes.forEach((node, n) => {
    if (!node.inner.length || budget.left <= 0) return;
    if (!inst.open.has(n)) openBox(inst, n);
    for (const inner of inst.open.get(n)) {
      budget.left -= inner.inst.page.nodes.length;
      openAll(inner.inst, budget);
    }
  });
}

// Places of everything on a page, with room for what is open.
function place(inst) {
  const page = inst.page;
  const nodes = page.nodes.map((node) => ({ x: node.x, y: node.y, w: node.w, h: node.h, b: node.b, inside: [] }));
  const paths = page.edges.map((edge) => edge.points.slice());
  for (const [n, inner] of inst.open) {
    const box = nodes[n];
    let x = FRAME, tall = 0;
    for (const part of inner) {
      const placed = place(part.inst);
      box.inside.push({ dx: x, dy: box.h + LINE, role: part.role, inst: part.inst, placed });
      x += Math.max(placed.width, part.role.length * 6.7) + FRAME;
      tall = Math.max(tall, placed.height);
    }
    const aside = Math.max(0, x - box.w) / 2, down = box.h + tall + LINE + FRAME - (box.b - box.y);
    const { x: center, y: top, b: bottom } = box;
    const lower = Math.max(0, down);
    const moved = (x, y) => {
      const beside = y > top - 1 && y < bottom + 3 && Math.abs(x - center) > 5;
      return [x + (beside ? Math.sign(x - center) * aside : 0), y + (y > bottom + 1 ? lower : 0)];
    };
    for (const other of nodes) {
      if (other === box) continue;
      const sameRank = Math.abs(other.y - top) < 0.5;
      [other.x, other.y] = moved(other.x, other.y);
      if (sameRank || other.y > bottom) other.b += lower;
    }
    for (const list of paths) {
      for (let i = 2; i < list.length - 2; i += 2) [list[i], list[i + 1]] = moved(list[i], list[i + 1]);
    }
    box.w += 2 * aside;
    box.h += tall + LINE + FRAME;
    box.b += lower;
  }
  // Lines begin and end where their boxes are now.
  page.edges.forEach((edge, e) => {
    const list = paths[e], from = nodes[edge.from], to = nodes[edge.to], closed = page.nodes[edge.to];
    [list[0], list[1]] = [from.x, from.y + from.h];
    const port = (edge.points.at(-2) - closed.x) / closed.w;
    [list[list.length - 2], list[list.length - 1]] = [to.x + port * to.w, to.y];
    for (let i = 3; i < list.length; i += 2) list[i] = Math.max(list[i], list[i - 2]);
    // Beside an open box a line goes straight down.
    if (list[1] < from.b - 1 && list[3] > from.b + 2.5) list.splice(2, 0, from.x, from.b + 2);
  });
  const labels = page.labels.map(([x, y, , , below, , edge]) => {
    if (below !== null) return [nodes[below].x + (x - page.nodes[below].x), nodes[below].y + nodes[below].h + 11.5];
    return [paths[edge].at(-2) + 3, paths[edge].at(-1) - 12];
  });
  const left = Math.min(0, ...nodes.map((node) => node.x - node.w / 2));
  const right = Math.max(page.w, ...nodes.map((node) => node.x + node.w / 2), ...paths.map((p) => Math.max(...p.filter((_, i) => i % 2 === 0))));
  const height = Math.max(page.h, ...nodes.map((node) => node.y + node.h));
  for (const node of nodes) node.x -= left;
  for (const list of [...paths, ...labels]) for (let i = 0; i < list.length; i += 2) list[i] -= left;
  return { nodes, paths, labels, width: right - left, height };
}

function element(name, attributes, parent) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  if (parent) parent.appendChild(e);
  return e;
}

function curve(p) {
  let d = `M${p[0]},${p[1]}`;
  for (let i = 2; i < p.length; i += 2) {
    const [ax, ay, x, y] = [p[i - 2], p[i - 1], p[i], p[i + 1]];
    const m = (ay + y) / 2;
    d += Math.abs(ax - x) < 0.5 ? `L${x},${y}` : `C${ax},${m} ${x},${m} ${x},${y}`;
  }
  return d;
}

let boxes = [];
function draw(inst, placed, group) {
  const page = inst.page;
  const wires = page.edges.map((edge, e) => ({ edge, e })).sort((a, b) => a.edge.critical - b.edge.critical);
  const drawn = new Map();
  for (const { edge, e } of wires) {
    const path = element('path', {
      d: curve(placed.paths[e]), fill: 'none', stroke: edge.critical ? CRITICAL : WIRE,
      'stroke-width': edge.critical ? 2.2 : 1, 'marker-end': `url(#${edge.critical ? 'critical' : 'arrow'})`,
    }, group);
    if (edge.control) path.setAttribute('stroke-dasharray', '4 3');
    for (const end of [edge.from, edge.to]) drawn.set(end, [...(drawn.get(end) || []), path]);
  }
  page.nodes.forEach((node, n) => {
    const at = placed.nodes[n];
    const left = at.x - at.w / 2;
    const [fill, stroke] = data.kinds[node.kind];
    const g = element('g', { class: 'box', tabindex: 0 }, group);
    const rect = element('rect', {
      x: left, y: at.y, width: at.w, height: at.h, rx: 4, fill, stroke: node.critical ? CRITICAL : stroke,
      'stroke-width': node.critical ? 2.2 : node.root ? 2 : 1,
    }, g);
    if (node.cut) rect.setAttribute('stroke-dasharray', '5 3');
    node.lines.forEach((line, i) => {
      const text = element('text', { x: left + 8, y: at.y + 17 + i * LINE, fill: i ? '#424a53' : '#1f2328' }, g);
      if (!i) text.setAttribute('font-weight', 'bold');
      text.textContent = line;
    });
    const box = { g, node, inst, n, wires: drawn.get(n) || [] };
    boxes.push(box);
    g.addEventListener('click', (event) => { event.stopPropagation(); pick(box); });
    g.addEventListener('dblclick', (event) => { event.stopPropagation(); toggle(box); });
    g.addEventListener('keydown', (event) => { if (event.key === 'Enter') { event.stopPropagation(); toggle(box); } });
    for (const inner of at.inside) {
      const [x, y] = [left + inner.dx, at.y + inner.dy];
      element('rect', {
        x: x - FRAME / 2, y: y - FRAME / 2, width: inner.placed.width + FRAME, height: inner.placed.height + FRAME,
        rx: 3, fill: '#fff', 'fill-opacity': 0.7, stroke, 'stroke-width': 0.5,
      }, g);
      const title = element('text', { x: x - FRAME / 2, y: y - FRAME / 2 - 3, 'font-size': 9.5, fill: '#57606a' }, g);
      title.textContent = inner.role;
      draw(inner.inst, inner.placed, element('g', { transform: `translate(${x},${y})` }, g));
    }
  });
  page.labels.forEach(([, , text, critical, , left], i) => {
    const [x, y] = placed.labels[i];
    element('text', {
      x, y, 'font-size': 9.5, fill: critical ? CRITICAL : '#57606a', class: 'label',
      'text-anchor': left ? 'end' : 'start',
    }, group).textContent = text;
  });
}

const whole = instance(0);
let view = null;
function render() {
  picture.replaceChildren();
  boxes = [];
  const defs = element('defs', {}, picture);
  for (const [id, color] of [['arrow', WIRE], ['critical', CRITICAL]]) {
    const marker = element('marker', {
      id, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: 'userSpaceOnUse',
      orient: 'auto',
    }, defs);
    element('path', { d: 'M0,1 L8,4 L0,7 z', fill: color }, marker);
  }
  if (!whole.page) return;
  const placed = place(whole);
  draw(whole, placed, element('g', {}, picture));
  picture.dataset.size = `${placed.width} ${placed.height} ${placed.nodes.length ? placed.nodes[0].x : 0}`;
  if (!view) fit();
  show();
}

function show() {
  picture.setAttribute('viewBox', view.join(' '));
}

// The whole picture, or, where that makes letters too small to read, the upper part, around the first box.
function fit() {
  const [width, height, first] = picture.dataset.size.split(' ').map(Number);
  const [w, h] = [picture.clientWidth || 1000, picture.clientHeight || 700];
  const scale = Math.max(Math.min(w / (width + 40), h / (height + 40), 1.2), 0.65);
  const middle = width * scale > w ? first : width / 2;
  view = [middle - w / scale / 2, -20, w / scale, h / scale];
}

function toggle(box) {
  if (!box.node.inner.length) return;
  if (box.inst.open.has(box.n)) box.inst.open.delete(box.n);
  else openBox(box.inst, box.n);
  render();
}

function pick(box) {
  for (const other of boxes) {
    other.g.classList.toggle('picked', other === box);
    for (const wire of other.wires) wire.classList.remove('lit');
  }
  for (const wire of box.wires) wire.classList.add('lit');
  const pre = document.createElement('pre');
  pre.textContent = box.node.text;
  details.replaceChildren(pre);
  if (box.node.inner.length) {
    const button = document.createElement('button');
    button.textContent = box.inst.open.has(box.n) ? 'close' : 'open';
    button.addEventListener('click', () => { toggle(box); button.remove(); });
    details.append(button);
  }
}

let drag = null;
picture.addEventListener('pointerdown', (event) => { drag = [event.clientX, event.clientY]; });
window.addEventListener('pointerup', () => { drag = null; });
window.addEventListener('pointermove', (event) => {
  if (!drag) return;
  const scale = view[2] / picture.clientWidth;
  view[0] -= (event.clientX - drag[0]) * scale;
  view[1] -= (event.clientY - drag[1]) * scale;
  drag = [event.clientX, event.clientY];
  show();
});
picture.addEventListener('wheel', (event) => {
  event.preventDefault();
  const factor = Math.exp(event.deltaY * 0.0015);
  const area = picture.getBoundingClientRect();
  const [fx, fy] = [(event.clientX - area.left) / area.width, (event.clientY - area.top) / area.height];
  view = [view[0] + view[2] * fx * (1 - factor), view[1] + view[3] * fy * (1 - factor), view[2] * factor, view[3] * factor];
  show();
}, { passive: false });

let match = 0;
document.getElementById('search').addEventListener('input', () => { match = 0; search(); });
document.getElementById('search').addEventListener('keydown', (event) => {
  if (event.key === 'Enter') { match += event.shiftKey ? -1 : 1; search(); }
});
function search() {
  const wanted = document.getElementById('search').value.trim().toLowerCase();
  const found = boxes.filter((box) => {
    const hit = wanted && box.node.lines.slice(0, 2).some((line) => line.toLowerCase().includes(wanted));
    box.g.classList.toggle('match', Boolean(hit));
    return hit;
  });
  const note = document.getElementById('found');
  if (!found.length) { note.textContent = wanted ? 'none' : ''; return; }
  const at = ((match % found.length) + found.length) % found.length;
  note.textContent = `${at + 1} of ${found.length}`;
  const box = found[at];
  const area = box.g.firstChild.getBoundingClientRect(), frame = picture.getBoundingClientRect();
  const scale = view[2] / picture.clientWidth;
  view[0] += (area.left + area.width / 2 - frame.left - frame.width / 2) * scale;
  view[1] += (area.top + area.height / 2 - frame.top - frame.height / 2) * scale;
  show();
  pick(box);
}

document.getElementById('all').addEventListener('click', () => { openAll(whole, { left: MOST }); render(); });
document.getElementById('none').addEventListener('click', () => { whole.open.clear(); render(); });
document.getElementById('fit').addEventListener('click', () => { fit(); show(); });

const used = new Set(data.pages.flatMap((page) => page.nodes.map((node) => node.kind)));
for (const [name, [fill, stroke]] of Object.entries(data.kinds)) {
  if (!used.has(name)) continue;
  const item = document.createElement('span');
  const color = document.createElement('i');
  color.style.background = fill;
  color.style.borderColor = stroke;
  item.append(color, name);
  document.getElementById('legend').append(item);
}
if (data.pages.some((page) => page.nodes.some((node) => node.critical))) {
  const item = document.createElement('span');
  item.textContent = 'critical path';
  item.style.color = CRITICAL;
  document.getElementById('legend').append(item);
}
if (data.open && whole.page) openAll(whole, { left: MOST });
render();
