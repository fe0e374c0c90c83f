// Owns the reading of fixtures: what they say in comments is to be found in them (fixtures/README.md), as far as the
// scenarios need it, and the program without those comments. Does not know how findings are shown.

export interface Expectation {
    rule: string;
    /** The lines of both sides, counted from 1. */
    lines: number[];
}

/** `//~ race: x with line 21` and `//~ deadlock: l1 -> l2 with line 21`; not those that begin with `no`. */
export function expectations(text: string): Expectation[] {
    return text.split("\n").flatMap((line, index) =>
        [...line.matchAll(/\/\/~ ([a-z-]+): [^/]*? with line (\d+)/g)].map(([, rule, other]) => ({
            rule: rule as string,
            lines: [index + 1, Number(other)],
        })),
    );
}

/** Every line keeps its number. */
export function program(text: string): string {
    return `${text.replace(/[ \t]*\/\/[~-] .*$/gm, "").trimEnd()}\n`;
}
