// Pictures of figures. All are drawings with a text for those who do not see them.

import { s, h } from './dom.js';

/** A line over time, with the area below it. `series`: lists of numbers of one length, drawn over each other. */
export function spark(series, { width = 240, height = 44, top, label, classes = [] } = {}) {
  const most = Math.max(top ?? 0, ...series.flat().filter(Number.isFinite), 1e-9);
  const drawing = s('svg.spark', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label });
  series.forEach((values, at) => {
    if (values.length < 2) return;
    const x = (place) => (place / (values.length - 1)) * width;
    const y = (value) => height - 2 - (value / most) * (height - 5);
    const line = values.map((value, place) => `${place ? 'L' : 'M'}${x(place).toFixed(1)} ${y(Number.isFinite(value) ? value : 0).toFixed(1)}`).join('');
    if (at === 0) drawing.append(s('path', { class: `area ${classes[at] ?? ''}`, d: `${line}L${width} ${height}L0 ${height}Z` }));
    drawing.append(s('path', { class: `line ${classes[at] ?? ''}`, d: line, 'vector-effect': 'non-scaling-stroke' }));
  });
  return drawing;
}

/** Columns over time, each a stack of parts. `columns`: lists of [class, amount]. */
export function stacks(columns, { width = 240, height = 44, label } = {}) {
  const drawing = s('svg.stacks', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label });
  const most = Math.max(1, ...columns.map((column) => column.reduce((sum, [, amount]) => sum + amount, 0)));
  const wide = width / Math.max(1, columns.length);
  columns.forEach((column, at) => {
    let from = height;
    for (const [kind, amount] of column) {
      if (!amount) continue;
      const tall = Math.max(1, (amount / most) * (height - 2));
      from -= tall;
      drawing.append(s('rect', { class: kind, x: (at * wide).toFixed(2), y: from.toFixed(2), width: Math.max(0.5, wide - 0.7).toFixed(2), height: tall.toFixed(2) }));
    }
  });
  return drawing;
}

/** One bar of parts, as wide as it may be: [class, amount, text]. */
export function bar(parts, { label } = {}) {
  const total = parts.reduce((sum, [, amount]) => sum + amount, 0);
  return h('div.bar', { role: 'img', 'aria-label': label ?? parts.map(([, amount, text]) => `${text}: ${amount}`).join(', ') },
    total === 0 ? null : parts.filter(([, amount]) => amount > 0).map(([kind, amount, text]) => h('span.part', { class: kind, title: `${text}: ${amount}`, style: { 'flex-grow': String(amount) } })),
  );
}

/** Where the middle and the slow ones lie, on a scale that grows tenfold: from 10 µs to 100 s. */
export function reach(points, { width = 260, label } = {}) {
  const place = (us) => Math.min(1, Math.max(0, (Math.log10(Math.max(us, 10)) - 1) / 7)) * (width - 12) + 6;
  const drawing = s('svg.reach', { viewBox: `0 0 ${width} 30`, role: 'img', 'aria-label': label });
  for (let power = 1; power <= 8; power++) drawing.append(s('line', { class: power === 3 || power === 6 ? 'tick strong' : 'tick', x1: place(10 ** power), x2: place(10 ** power), y1: 3, y2: 19 }));
  for (const [power, text] of [[3, '1 ms'], [6, '1 s']]) drawing.append(s('text', { class: 'unit', x: place(10 ** power), y: 28, 'text-anchor': 'middle' }, text));
  const values = points.map(([, value]) => value).filter((value) => value > 0);
  if (values.length) {
    const [from, to] = [Math.min(...values), Math.max(...values)];
    drawing.append(s('line', { class: 'span', x1: place(from), x2: place(to), y1: 11, y2: 11 }));
    for (const [kind, value] of points) if (value > 0) drawing.append(s('circle', { class: kind, cx: place(value), cy: 11, r: kind === 'p50' ? 4.5 : 3.5 }));
  }
  return drawing;
}

/** The figure at which so much of a list is below. The list is sorted here. */
export function percentile(values, share) {
  if (!values.length) return undefined;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}
