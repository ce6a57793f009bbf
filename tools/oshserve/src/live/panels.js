'use strict';
// The panels: each is drawn anew from the numbers of the moment. Counters are sums: rates are differences of two
// moments.

const SVG = 'http://www.w3.org/2000/svg';
const byId = (id) => document.getElementById(id);
// Of Okabe and Ito, who chose them for all eyes; each has a pattern of its own as well.
const PARTS = [
  ['computing', '#bbbbbb', ''],
  ['transfers', '#0072b2', ''],
  ['fence and quiet', '#56b4e9', 'M0 3H6'],
  ['barriers', '#d55e00', 'M0 6L6 0'],
  ['collectives', '#e69f00', 'M0 0L6 6'],
  ['waits and locks', '#cc79a7', 'M3 0V6'],
  ['other routines', '#009e73', 'M0 3H6M3 0V6'],
  ['not recorded', '#ffffff', 'M0 0L6 6M0 6L6 0'],
];
const HISTORY = 120;
const pastRates = new Map();
let before = null,
  paused = false,
  cursor = [0, 0],
  last = null,
  failures = 0,
  timer = 0;

const make = (name, attributes = {}, ...children) => {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};
const html = (name, text) => {
  const node = document.createElement(name);
  node.textContent = text;
  return node;
};
const titled = (node, text) => {
  node.append(make('title', {}, text));
  return node;
};
const amount = (value) => {
  for (const [unit, name] of [
    [1e12, ' T'],
    [1e9, ' G'],
    [1e6, ' M'],
    [1e3, ' k'],
  ])
    if (value >= unit) return (value / unit).toFixed(1) + name;
  return value >= 10 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(2);
};
const bytes = (value) => {
  for (const [power, name] of [
    [40, ' TiB'],
    [30, ' GiB'],
    [20, ' MiB'],
    [10, ' KiB'],
  ])
    if (value >= 2 ** power) return (value / 2 ** power).toFixed(1) + name;
  return amount(value) + ' B';
};
const time = (value) => (value >= 1 ? value.toFixed(1) + ' s' : (value * 1e3).toFixed(1) + ' ms');
const percent = (value) => (100 * value).toFixed(0) + ' %';

const patterns = () =>
  make(
    'defs',
    {},
    ...PARTS.map(([, colour, path], at) =>
      make(
        'pattern',
        { id: 'part' + at, width: 6, height: 6, patternUnits: 'userSpaceOnUse' },
        make('rect', { width: 6, height: 6, fill: colour }),
        make('path', { d: path, stroke: '#000', 'stroke-width': 1, 'stroke-opacity': 0.55, fill: 'none' }),
      ),
    ),
  );

function legend() {
  byId('legend').replaceChildren(
    ...PARTS.map(([name], at) => {
      const item = html('li', ' ' + name);
      item.prepend(
        make(
          'svg',
          { viewBox: '0 0 14 9', 'aria-hidden': 'true' },
          make('rect', { width: 14, height: 9, fill: `url(#part${at})` }),
        ),
      );
      return item;
    }),
  );
}

// Of the time since the last look: what is short does not vanish in what is long.
function shares(row, old) {
  const since = (now, then) => Math.max(0, now - (then ?? 0));
  const wall = since(row.wall, old?.wall);
  const parts = row.parts.map((part, at) => since(part, old?.parts[at]));
  parts.push(since(row.unrecorded, old?.unrecorded));
  const known = parts.reduce((sum, part) => sum + part, 0);
  const all = Math.max(wall, known) || 1;
  return [Math.max(0, wall - known) / all, ...parts.map((part) => part / all)];
}

function drawPes(now, old) {
  const height = 20,
    left = 56,
    bar = 260,
    width = 820;
  const drawing = make(
    'svg',
    {
      width,
      height: now.pes.length * height + 4,
      viewBox: `0 0 ${width} ${now.pes.length * height + 4}`,
      role: 'img',
      'aria-label': 'Time of each PE since the last look, and what it does',
    },
    patterns(),
  );
  now.pes.forEach((row, at) => {
    const y = at * height,
      parts = shares(row, old?.pes[at]);
    drawing.append(make('text', { x: 0, y: y + 14 }, 'PE ' + row.label));
    let x = left;
    parts.forEach((share, part) => {
      if (share <= 0) return;
      const rect = make('rect', { x, y: y + 2, width: share * bar, height: height - 5, fill: `url(#part${part})` });
      drawing.append(titled(rect, `PE ${row.label}: ${percent(share)} ${PARTS[part][0]}`));
      x += share * bar;
    });
    drawing.append(titled(make('text', { x: left + bar + 8, y: y + 14 }, row.doing), row.doing));
  });
  byId('pes').replaceChildren(drawing);
}

function spark(points) {
  const most = Math.max(...points, 1e-9);
  const path = points.map(
    (value, at) =>
      `${at ? 'L' : 'M'}${((at * 100) / (HISTORY - 1)).toFixed(1)} ${(19 - (18 * value) / most).toFixed(1)}`,
  );
  return make(
    'svg',
    { viewBox: '0 0 100 20', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    make('path', {
      d: path.join(''),
      fill: 'none',
      stroke: 'currentColor',
      'stroke-width': 1,
      'vector-effect': 'non-scaling-stroke',
    }),
  );
}

function drawRoutines(now, old) {
  const seconds = old ? now.seconds - old.seconds : now.seconds;
  const then = new Map((old?.routines ?? []).map((routine) => [routine.name, routine]));
  const rows = now.routines.map((routine) => {
    const earlier = then.get(routine.name);
    const rate = (of) => (seconds > 0 ? Math.max(0, routine[of] - (earlier?.[of] ?? 0)) / seconds : 0);
    const row = {
      name: routine.name,
      calls: rate('calls'),
      bytes: rate('bytes'),
      inside: rate('seconds'),
      all: routine.calls,
    };
    const points = pastRates.get(row.name) ?? [];
    points.push(row.calls);
    if (points.length > HISTORY) points.shift();
    pastRates.set(row.name, points);
    return row;
  });
  rows.sort((a, b) => b.calls - a.calls || b.all - a.all || a.name.localeCompare(b.name));
  byId('routines').replaceChildren(
    ...rows.slice(0, 40).map((row) => {
      const line = document.createElement('tr');
      line.append(
        html('td', row.name),
        html('td', amount(row.calls)),
        html('td', row.bytes > 0 ? bytes(row.bytes) : '-'),
        html('td', row.inside.toFixed(2)),
      );
      const cell = document.createElement('td');
      cell.append(spark(pastRates.get(row.name)));
      line.append(cell);
      return line;
    }),
  );
}

// From light to dark by the logarithm: brightness alone tells, whatever the eyes.
const shade = (value, most) => {
  if (!value) return 'none';
  const part = Math.log1p(value) / Math.log1p(most);
  return `hsl(205 70% ${(88 - 66 * part).toFixed(0)}%)`;
};

function drawMatrix(now) {
  const { labels, bytes: cells } = now.matrix,
    rows = labels.length;
  if (!rows) return byId('matrix').replaceChildren();
  const side = Math.max(6, Math.min(28, Math.floor(420 / rows))),
    left = 60,
    top = 18;
  const most = Math.max(1, ...cells.flat());
  const size = left + rows * side + 4;
  const drawing = make('svg', {
    width: size,
    height: top + rows * side + 4,
    viewBox: `0 0 ${size} ${top + rows * side + 4}`,
    tabindex: 0,
    role: 'application',
    'aria-roledescription': 'matrix',
    'aria-label': 'Bytes from row to column; arrows move',
    id: 'grid',
  });
  byId('scale').textContent = `The darkest cell is ${bytes(most)}.`;
  const every = Math.ceil(rows / 16);
  labels.forEach((label, at) => {
    if (at % every) return;
    drawing.append(make('text', { x: left - 6, y: top + at * side + side / 2 + 4, 'text-anchor': 'end' }, label));
    drawing.append(make('text', { x: left + at * side + side / 2, y: top - 5, 'text-anchor': 'middle' }, label));
  });
  cells.forEach((line, from) =>
    line.forEach((value, to) => {
      const cell = make('rect', {
        x: left + to * side,
        y: top + from * side,
        width: side,
        height: side,
        fill: shade(value, most),
        stroke: 'var(--line)',
        'stroke-width': 0.5,
      });
      drawing.append(titled(cell, `PE ${labels[from]} to PE ${labels[to]}: ${bytes(value)}`));
    }),
  );
  cursor = cursor.map((at) => Math.min(at, rows - 1));
  drawing.append(
    make('rect', {
      id: 'cursor',
      x: left + cursor[1] * side,
      y: top + cursor[0] * side,
      width: side,
      height: side,
      fill: 'none',
      stroke: 'var(--bad)',
      'stroke-width': 3,
    }),
  );
  const focused = document.activeElement?.id === 'grid';
  byId('matrix').replaceChildren(drawing);
  if (focused) drawing.focus({ preventScroll: true });
  drawing.addEventListener('keydown', (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    cursor = cursor.map((at, axis) => Math.max(0, Math.min(rows - 1, at + step[axis])));
    const [from, to] = cursor;
    byId('cell').textContent = `PE ${labels[from]} to PE ${labels[to]}: ${bytes(cells[from][to])} so far.`;
    drawMatrix(last);
  });
}

function drawGraph(now) {
  const { nodes, arrows, cycles, text } = now.waits;
  byId('waits').textContent = text || 'Nobody waits.';
  if (!arrows.length) return byId('graph').replaceChildren();
  const used = nodes.length <= 24 ? nodes : nodes.filter((pe) => arrows.some((pair) => pair.includes(pe)));
  const radius = Math.max(90, used.length * 7),
    middle = radius + 24;
  const place = new Map(
    used.map((pe, at) => {
      const angle = (2 * Math.PI * at) / used.length - Math.PI / 2;
      return [pe, [middle + radius * Math.cos(angle), middle + radius * Math.sin(angle)]];
    }),
  );
  const ring = new Set(cycles.flatMap((cycle) => cycle.map((pe, at) => pe + '>' + cycle[(at + 1) % cycle.length])));
  const head = (id, colour) =>
    make(
      'marker',
      {
        id,
        viewBox: '0 0 8 8',
        refX: 7,
        refY: 4,
        markerWidth: 10,
        markerHeight: 10,
        markerUnits: 'userSpaceOnUse',
        orient: 'auto',
      },
      make('path', { d: 'M0 0L8 4L0 8z', fill: colour }),
    );
  const drawing = make(
    'svg',
    {
      width: 2 * middle,
      height: 2 * middle,
      viewBox: `0 0 ${2 * middle} ${2 * middle}`,
      role: 'img',
      'aria-label': text,
    },
    make('defs', {}, head('end', 'var(--soft)'), head('endless', 'var(--bad)')),
  );
  for (const [from, to] of arrows) {
    if (!place.has(from) || !place.has(to) || from === to) continue;
    const [[x1, y1], [x2, y2]] = [place.get(from), place.get(to)],
      length = Math.hypot(x2 - x1, y2 - y1);
    const [dx, dy] = [(14 * (x2 - x1)) / length, (14 * (y2 - y1)) / length],
      stuck = ring.has(from + '>' + to);
    const line = make('line', {
      x1: x1 + dx,
      y1: y1 + dy,
      x2: x2 - dx,
      y2: y2 - dy,
      class: stuck ? 'stuck' : 'wait',
      stroke: stuck ? 'var(--bad)' : 'var(--soft)',
      'stroke-width': stuck ? 4 : 1.5,
      'stroke-dasharray': stuck ? '8 4' : 'none',
      'marker-end': `url(#${stuck ? 'endless' : 'end'})`,
    });
    drawing.append(titled(line, `PE ${from} waits for PE ${to}${stuck ? ', for ever' : ''}`));
  }
  for (const [pe, [x, y]] of place)
    drawing.append(
      make('circle', { cx: x, cy: y, r: 12, fill: 'var(--paper)', stroke: 'var(--ink)' }),
      make('text', { x, y: y + 4, 'text-anchor': 'middle' }, pe),
    );
  byId('graph').replaceChildren(drawing);
}

function bars(rows, label) {
  const height = 20,
    most = Math.max(1e-12, ...rows.map((row) => row.share)),
    width = 620;
  const drawing = make('svg', {
    viewBox: `0 0 ${width} ${Math.max(1, rows.length) * height}`,
    role: 'img',
    'aria-label': label,
  });
  rows.forEach(({ name, share, text }, at) =>
    drawing.append(
      make('text', { x: 0, y: at * height + 14 }, name),
      make('rect', { x: 60, y: at * height + 2, width: (160 * share) / most, height: height - 5, fill: '#d55e00' }),
      make('text', { x: 228, y: at * height + 14 }, text),
    ),
  );
  return drawing;
}

function drawLate(now) {
  const rows = now.late
    .filter((row) => row.seconds > 0)
    .map((row) => ({
      name: 'PE ' + row.pe,
      share: row.seconds,
      text: `${time(row.seconds)}, last ${amount(row.times)} times, most in ${row.routine}`,
    }));
  byId('late').replaceChildren(
    rows.length ? bars(rows, 'Time lost to each PE') : html('p', 'Nobody has been late so far.'),
  );
}

function drawHeap(now) {
  const { used, size } = now.heap,
    share = size ? used / size : 0;
  const drawing = make(
    'svg',
    { viewBox: '0 0 560 20', role: 'img', 'aria-label': `${percent(share)} in use` },
    make('rect', { x: 0.5, y: 2.5, width: 300, height: 15, fill: 'none', stroke: 'var(--ink)' }),
    make('rect', {
      x: 0.5,
      y: 2.5,
      width: 300 * Math.min(1, share),
      height: 15,
      fill: share > 0.9 ? '#d55e00' : '#0072b2',
    }),
    make('text', { x: 308, y: 15 }, `${bytes(used)} of ${bytes(size)}, ${percent(share)}`),
  );
  byId('heap').replaceChildren(drawing);
}
