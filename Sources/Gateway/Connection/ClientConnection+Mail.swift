import Logging
import NIOCore
import Storage
import SyncModel
import SyncProtocol

// Letters from the cluster and from the gateway.
extension ClientConnection {
    nonisolated func post(_ letter: Mailbox.Letter) {
        // Unstructured: the task lives as long as there are letters, and writes nothing to a socket that has ended.
        if mailbox.post(letter) { Task { await openMail() } }
    }

    /// Opens letters until none waits. One such task at a time: `mailbox` says when another is due.
    private func openMail() async {
        while true {
            for _ in 0..<Self.lettersAtOnce {
                guard let letter = mailbox.take() else { return }
                await open(letter)
            }
            // What the client sends has its turn, too.
            await Task.yield()
        }
    }

    private static let lettersAtOnce = 32

    private func open(_ letter: Mailbox.Letter) async {
        switch letter {
        case .event(let event, let number):
            switch event {
            case .reset, .generation: await readRecovery(for: number)
            default: break
            }
            guard let session = numbers[number] else { return }
            perform(event, on: session)
        case .settings(let app): await settingsChanged(app)
        case .tick: await tick()
        case .drained:
            for (session, machine) in sessions where machine.wantsPage { perform(.drained, on: session) }
        case .close(let code, let reason): close(code, reason)
        case .shutdown: shutdown()
        case .hangUp: hangUp()
        }
    }

    private func settingsChanged(_ id: String) async {
        guard id == upgrade.app, let app = try? await environment.apps.app(id) else { return }
        performOnAll(.settings(app))
    }

    /// Recovery may have been switched off just before the termination: what was remembered at BIND does not count.
    private func readRecovery(for number: UInt64) async {
        guard let app = try? await environment.apps.app(upgrade.app), let session = numbers[number] else { return }
        perform(.recovery(app.clientRecovery), on: session)
    }

    /// Tells the client to come back, to this gateway's successor or to another one.
    private func shutdown() {
        guard !isClosing else { return }
        let body = JSONErrorBody(
            code: .connectionClosed, message: "the server is restarting", action: .transient, tryAgain: true,
            backoff: .short)
        send(.jsonError(session: .connection, code: .connectionClosed, body: body))
        hangUp()
    }

    private func tick() async {
        guard !isClosing else { return }
        let now = environment.clock.unixMilliseconds()
        if .now() > lastHeard + TimeAmount(environment.timings.silentSocket) {
            logger.info("a client is silent")
            return hangUp()
        }
        if let claims = upgrade.claims {
            let expiry = UInt64(max(0, claims.exp)) &* 1000
            if now > expiry &+ environment.timings.tokenGrace.milliseconds { return close(4001, "token expired") }
            if now > checkedAt &+ environment.timings.recheck.milliseconds {
                checkedAt = now
                switch try? await environment.accounts.recheck(claims) {
                case .refresh(let reason), .forbidden(let reason): return close(4001, reason)
                // An unreachable store is no reason to lose clients.
                case .allowed, nil: break
                }
            }
        }
        performOnAll(.tick)
        resumeReaders()
    }
}
