// Pseudo-random numbers for ties and coins: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). Equal seeds give equal numbers.

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

/** A seeded generator of random numbers, such as `new Dice(host.run.seed())`. */
export class Dice {
  #state;
  constructor(seed) {
    this.#state = BigInt(seed) & MASK;
  }
  /** The next number, a BigInt of 64 bits. */
  number() {
    this.#state = (this.#state + 0x9e3779b97f4a7c15n) & MASK;
    let value = this.#state;
    value = ((value ^ (value >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    value = ((value ^ (value >> 27n)) * 0x94d049bb133111ebn) & MASK;
    return value ^ (value >> 31n);
  }
  /** True or false, each half of the time. */
  coin() {
    return (this.number() & 1n) === 1n;
  }
  /** One of that many, from 0. A throw for one is none, so that it changes nothing later. */
  oneOf(sides) {
    return sides <= 1 ? 0 : Number((this.number() * BigInt(sides)) >> 64n);
  }
}
