// How elements are made. Nothing here, and nothing that uses it, turns text into markup: texts become text nodes, whatever is in them.

const SVG = 'http://www.w3.org/2000/svg';

/** An element: `h('button.primary', { onclick, 'aria-label': … }, 'text', child)`. */
export function h(kind, ...rest) {
  return fill(made(kind), rest);
}

/** The same for drawings. */
export function s(kind, ...rest) {
  return fill(made(kind, SVG), rest);
}

function made(kind, space) {
  const [name, ...classes] = kind.split('.');
  const element = space ? document.createElementNS(space, name) : document.createElement(name);
  if (classes.length) element.setAttribute('class', classes.join(' '));
  return element;
}

function fill(element, rest) {
  const [first] = rest;
  const plain = first !== null && typeof first === 'object' && !Array.isArray(first) && !(first instanceof Node);
  if (plain) {
    for (const [name, value] of Object.entries(first)) set(element, name, value);
  }
  add(element, plain ? rest.slice(1) : rest);
  return element;
}

function set(element, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name.startsWith('on')) {
    // Only functions: a text would be a script.
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
  } else if (name === 'class') {
    for (const one of String(value).split(' ').filter(Boolean)) element.classList.add(one);
  } else if (name === 'style') {
    // Property by property: an attribute would be an inline style, which the pages forbid themselves.
    for (const [property, to] of Object.entries(value)) element.style.setProperty(property, to);
  } else if (name === 'value' || name === 'checked' || name === 'disabled' || name === 'selected' || name === 'hidden') {
    element[name] = value;
  } else {
    element.setAttribute(name, value === true ? '' : String(value));
  }
}

/** Adds texts, elements, lists of them; leaves out what is nothing. */
export function add(element, children) {
  for (const child of children) {
    if (child === undefined || child === null || child === false || child === true) continue;
    if (Array.isArray(child)) add(element, child);
    else element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** Puts other children in the place of those that are there. */
export function put(element, ...children) {
  element.replaceChildren();
  return add(element, children);
}

/** An icon, drawn with lines of the text's color. */
export function icon(name, label) {
  const drawing = s('svg.icon', { viewBox: '0 0 16 16', 'aria-hidden': label ? undefined : 'true', role: label ? 'img' : undefined, 'aria-label': label });
  for (const path of ICONS[name] ?? ICONS.dot) drawing.append(s('path', { d: path }));
  return drawing;
}

const ICONS = {
  live: ['M1.500 8h3l2-5 3 10 2-5h3'],
  approvals: ['M2.500 8.500l3.500 3.500 7.500-8'],
  catalog: ['M2 3.500h12M2 8h12M2 12.500h12'],
  confusables: ['M6 4.200a4 4 0 1 0 0 7.600a4 4 0 1 0 0-7.600', 'M10 4.200a4 4 0 1 0 0 7.600a4 4 0 1 0 0-7.600'],
  policy: ['M8 1.500l5.500 2v4c0 3.500-2.500 6-5.500 7c-3-1-5.500-3.500-5.500-7v-4z'],
  chat: ['M2 3h12v8H7.500L4 14v-3H2z'],
  health: ['M8 13.500C3 10 1.500 7.500 2.500 5a3 3 0 0 1 5.500-.5a3 3 0 0 1 5.500 .5c1 2.500-.5 5-5.500 8.500z'],
  search: ['M7 2.500a4.500 4.500 0 1 0 0 9a4.500 4.500 0 1 0 0-9', 'M10.500 10.500l3.500 3.500'],
  pause: ['M5 3v10M11 3v10'],
  play: ['M4.500 2.500l8.500 5.500l-8.500 5.500z'],
  close: ['M3.500 3.500l9 9M12.500 3.500l-9 9'],
  sun: ['M8 5a3 3 0 1 0 0 6a3 3 0 1 0 0-6', 'M8 1v1.500M8 13.500V15M1 8h1.500M13.500 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1'],
  moon: ['M13 9.500A5.500 5.500 0 0 1 6.500 3a5.500 5.500 0 1 0 6.500 6.500z'],
  auto: ['M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12', 'M8 2v12M8 4.500h3.300M8 8h6M8 11.500h3.300'],
  keyboard: ['M1.500 4h13v8h-13z', 'M4 6.500h.01M6.500 6.500h.01M9 6.500h.01M11.500 6.500h.01M5 9.500h6'],
  edit: ['M3 13l.7-3L11 2.700l2.300 2.300L6 12.300z'],
  stop: ['M4 4h8v8H4z'],
  send: ['M2 8l12-5-4 11-2.500-4.500z'],
  plus: ['M8 3v10M3 8h10'],
  warning: ['M8 2l6.500 11.500h-13z', 'M8 6.500v3.500M8 12h.01'],
  tool: ['M10.500 2a3.500 3.500 0 0 0-3.300 4.700L2 12v2h2l5.300-5.200A3.500 3.500 0 0 0 14 5.500l-2 1.500-1.800-1.800L12 2.700A3.500 3.500 0 0 0 10.500 2z'],
  agent: ['M3 6h10v7H3zM8 6V3.500M8 2.500h.01M6 9h.01M10 9h.01'],
  back: ['M9.500 3L4.500 8l5 5'],
  check: ['M3 8.500l3.500 3.500L13 4.500'],
  dot: ['M8 7.500v1'],
};
