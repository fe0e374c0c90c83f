// Owns waiting: until something holds, looked at again and again, and never for ever. Does not know what is waited for.

const usualLimit = 60_000;
const pause = 25;

/** `look` throws or answers `undefined` as long as it does not hold; its last word is in the error. */
export async function until<Value>(
    what: string,
    look: () => Value | undefined | Promise<Value | undefined>,
    limit = usualLimit,
): Promise<Value> {
    const end = Date.now() + limit;
    let last: unknown = "nothing";
    for (;;) {
        try {
            const value = await look();
            if (value !== undefined) {
                return value;
            }
        } catch (error) {
            last = error instanceof Error ? error.message : error;
        }
        if (Date.now() > end) {
            throw new Error(`${what}: not after ${limit / 1000} s: ${String(last)}`);
        }
        await rest();
    }
}

/** That something does not go away again shortly after. */
export async function stays(look: () => void): Promise<void> {
    const end = Date.now() + 2_000;
    while (Date.now() < end) {
        look();
        await rest();
    }
}

function rest(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, pause));
}
