// Elements without markup: every string that a page shows is text.

export const $ = (id) => document.getElementById(id);

// element('td', { class: 'n' }, 'text', child ...): attributes, "on..." as listeners, children as nodes or text.
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function picture(tag, attributes = {}, ...children) {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) {
      made.addEventListener(name.slice(2), value);
    } else if (value === true) {
      made.setAttribute(name, '');
    } else if (value !== false && value != null) {
      made.setAttribute(name, value);
    }
  }
  made.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return made;
}

export const number = (value) => value.toLocaleString('en-US');

export async function bytesOf(url) {
  const response = await fetch(url);
  if (!response.ok) {
    throw new Error(`${url} is not on this server (${response.status})`);
  }
  return new Uint8Array(await response.arrayBuffer());
}
