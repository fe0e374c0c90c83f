// Owns what the driver inside the window and the test outside of it say to each other. Knows neither window nor
// browser.

/** The environment variable that tells the driver where the test listens. */
export const deskVariable = "SNARL_TEST_DESK";

export type ScenarioName = "edits" | "server-dies" | "no-server" | "no-jdk" | "two-folders";

export interface Scenario {
    name: ScenarioName;
    /** The folders that are open in the window. */
    folders: string[];
    /** The versions of an edit fixture, as directories; the first is what the folder holds. */
    steps: string[];
    binary: string;
    /** The home of a JDK, where the scenario is about that. */
    jdk?: string;
}

/** What the driver asks of the test; each is answered when it is done. */
export type Request =
    | { ask: "scenario" }
    | { ask: "log"; text: string }
    | { ask: "screenshot"; name: string }
    | { ask: "sees"; text: string }
    | { ask: "widen-side-bar" }
    /** Of a window that did not come up as it should; another driver begins in the new one. */
    | { ask: "open-again"; why: string }
    | { ask: "done"; error?: string };
