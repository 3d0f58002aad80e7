// A small stamp drawn from a canonical name: one tool has the same stamp on every page, and two tools with the same words beside them have
// different ones. It helps eyes; nothing is decided by it.

import { s } from './dom.js';

function digits(text) {
  let state = 2166136261;
  for (const character of String(text ?? '')) state = Math.imul(state ^ character.codePointAt(0), 16777619);
  return Array.from({ length: 16 }, () => {
    state = Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9;
    return (state >>> 24) & 15;
  });
}

/** The stamp: five by five, mirrored, in one of sixteen tones. */
export function stamp(canonical, size = 20) {
  const of = digits(canonical);
  const drawing = s('svg.stamp', { viewBox: '0 0 7 7', width: size, height: size, 'aria-hidden': 'true', 'data-tone': String(of[15]) });
  drawing.append(s('rect', { class: 'ground', width: 7, height: 7, rx: 1.6 }));
  let dots = '';
  let bits = of.slice(0, 4).reduce((sum, digit) => sum * 16 + digit, 0);
  for (let column = 0; column < 3; column++) {
    for (let row = 0; row < 5; row++) {
      const on = bits & 1;
      bits = bits >>> 1 || (of[4] * 4096 + of[5] * 256 + of[6] * 16 + of[7]) >>> row;
      if (!on) continue;
      for (const x of new Set([column, 4 - column])) dots += `M${x + 1.08} ${row + 1.08}h.84v.84h-.84z`;
    }
  }
  drawing.append(s('path', { class: 'dot', d: dots }));
  return drawing;
}
