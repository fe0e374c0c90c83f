// Owns the scenario of a server that dies: it comes back by itself, with the same findings. Does not know why it died.

import type { Scenario } from "../../../desk";
import { children } from "../processes";
import { until } from "../wait";
import { finds, openFile, ready, snarl } from "../window";

export async function serverDies({ folders, binary }: Scenario): Promise<void> {
    await openFile(folders[0] as string, "Amy.java");
    const api = await snarl();
    await ready(api);
    await finds(api, ["race"]);

    const [first] = await until("there is one server", () => only(children(binary)));
    process.kill(first, "SIGKILL");
    await until("there is another server", () => only(children(binary).filter((id) => id !== first)));
    await ready(api);
    await finds(api, ["race"]);
}

function only(ids: number[]): [number] | undefined {
    return ids.length === 1 ? (ids as [number]) : undefined;
}
