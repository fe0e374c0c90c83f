// Owns how the language client is set up: what it sends, what it asks for, what it says it understands. Does not know
// when it is started and stopped.

import { Uri, type LogOutputChannel } from "vscode";
import {
    CloseAction,
    ErrorAction,
    LanguageClient,
    RevealOutputChannelOn,
    State,
    type ErrorHandler,
    type StaticFeature,
} from "vscode-languageclient/node";
import { section, serverSettings } from "./settings";

export function createClient(command: string, output: LogOutputChannel): LanguageClient {
    const server = { command, args: ["lsp"] };
    // A server that dies is started again, a few times; one that never came up will not do better the next time.
    let errors: ErrorHandler | undefined;
    const client = new LanguageClient(section, "Snarl", server, {
        documentSelector: [{ scheme: "file", language: "java" }],
        initializationOptions: () => serverSettings(),
        outputChannel: output,
        revealOutputChannelOn: RevealOutputChannelOn.Never,
        diagnosticPullOptions: { onChange: true, onSave: true },
        initializationFailedHandler: () => false,
        errorHandler: {
            error: (error, message, count) =>
                errors?.error(error, message, count) ?? { action: ErrorAction.Shutdown },
            closed: () => errors?.closed() ?? { action: CloseAction.DoNotRestart, handled: true },
        },
        middleware: {
            workspace: {
                configuration: (params, token, next) =>
                    params.items.every((item) => item.section === section)
                        ? params.items.map((item) =>
                              serverSettings(item.scopeUri ? Uri.parse(item.scopeUri) : undefined),
                          )
                        : next(params, token),
            },
        },
    });
    client.registerFeature(understandsSnarl);
    client.onDidChangeState(({ newState }) => {
        errors ??= newState === State.Running ? client.createDefaultErrorHandler() : undefined;
    });
    return client;
}

/** Asks for what docs/lsp.md adds to the protocol. */
const understandsSnarl: StaticFeature = {
    fillClientCapabilities: (capabilities) => {
        capabilities.experimental = { ...(capabilities.experimental as object | undefined), snarl: true };
    },
    initialize: () => {},
    getState: () => ({ kind: "static" }),
    clear: () => {},
};
