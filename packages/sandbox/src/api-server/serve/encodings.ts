/** JSON texts of objects that many watchers get: made once per object, kept for the moment in which all of them are served. */

/** How many texts are kept. Watchers of one event read it within a few turns of the loop; older texts are only memory. */
const keptMax = 256;

export class Encodings {
  readonly #texts = new Map<object, string>();

  of(value: object): string {
    const known = this.#texts.get(value);
    if (known !== undefined) return known;
    const text = JSON.stringify(value);
    this.#texts.set(value, text);
    if (this.#texts.size > keptMax) {
      for (const oldest of this.#texts.keys()) {
        this.#texts.delete(oldest);
        break;
      }
    }
    return text;
  }
}
