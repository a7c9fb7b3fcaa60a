// Text for prompts and logs: single lines, limits, counts. The results have the same bytes as those of the SDKs for other languages.

// What Rust calls white space: Unicode's White_Space, written out since regular expressions of StarlingMonkey have no names of properties.
const SPACE = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
// White space and control characters.
const BREAKS = new RegExp(`[${SPACE}\\0-\\x1f\\x7f-\\x9f]+`, "u");
const ENDS = new RegExp(`^[${SPACE}]+|[${SPACE}]+$`, "gu");

/**
 * One line of at most `limit` characters: white space and control characters become single spaces, and an ellipsis at the end shows that
 * something was cut.
 */
export function line(text, limit) {
  const words = text.split(BREAKS).filter((word) => word !== "");
  const out = [];
  for (const [index, word] of words.entries()) {
    if (index > 0) out.push(" ");
    for (const character of word) {
      if (out.length + 1 >= limit && limit > 0) return `${out.join("")}…`;
      out.push(character);
    }
  }
  return out.join("");
}

/** `1 row`, `2 rows`. */
export const count = (number, noun) => (number === 1 ? `1 ${noun}` : `${number} ${noun}s`);

/** A number from 0 to 1; not-a-number becomes 0. */
export const clamp01 = (value) => (Number.isNaN(value) ? 0 : Math.min(1, Math.max(0, value)));

const widthOf = (character) => {
  const code = character.codePointAt(0);
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
};

/** The length of a text in bytes of UTF-8. */
export function byteLength(text) {
  let bytes = 0;
  for (const character of text) bytes += widthOf(character);
  return bytes;
}

/** At most that many bytes of a text, cut between characters. */
export function clip(text, bytes) {
  let used = 0;
  let end = 0;
  for (const character of text) {
    used += widthOf(character);
    if (used > bytes) return text.slice(0, end);
    end += character.length;
  }
  return text;
}

/** A text without white space at its ends, by the same characters as in the other languages. */
export const trim = (text) => text.replace(ENDS, "");

/** A number as decimal digits, without an exponent. */
export function digits(value) {
  if (Object.is(value, -0)) return "-0";
  if (value === Infinity) return "inf";
  if (value === -Infinity) return "-inf";
  const written = String(value);
  const parts = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(written);
  if (!parts) return written;
  const [, sign, whole, fraction = "", exponent] = parts;
  const figures = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${figures}`;
  if (point >= figures.length) return sign + figures + "0".repeat(point - figures.length);
  return `${sign}${figures.slice(0, point)}.${figures.slice(point)}`;
}

const MASK = (1n << 64n) - 1n;

/** FNV-1a over the UTF-8 bytes of a text, 64 bits, as a BigInt. */
export function fnv1a(text) {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytesOf(text)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & MASK;
  return hash;
}

function* bytesOf(text) {
  for (const character of text) {
    const code = character.codePointAt(0);
    if (code < 0x80) yield code;
    else if (code < 0x800) yield* [0xc0 | (code >> 6), 0x80 | (code & 63)];
    else if (code < 0x10000) yield* [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63)];
    else yield* [0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63)];
  }
}
