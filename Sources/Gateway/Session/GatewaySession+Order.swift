import Messages
import SyncModel
import SyncProtocol

// The client's messages, in the order in which it has sent them (docs/protocol.md, "The order of a session's messages"). A write was made under the
// newest subscription set before it, and is judged by that one: so in flexible mode an UPLOAD waits until the set's data is sent, and until MARKs
// before it are answered; and a QUERY until the owner has dealt with the UPLOADs before it. In partition mode nothing that a page holds depends on
// an upload but for its refusal: so the UPLOAD goes on at once, and its refusal waits for the MARKs.
extension GatewaySession {
    mutating func take(_ message: WaitingMessages.Message) {
        switch phase {
        case .identifying, .live: break
        case .binding, .bound, .clientFailed:
            // What comes is about to be ignored, or there is no client file yet of which an owner could decide anything.
            if case .violation(let error) = message { return violated(error) }
        case .ended: return
        }
        guard violation == nil, heldRefusal == nil else { return }
        waiting.append(message, at: environment.now)
    }

    private var situation: WaitingMessages.Situation {
        WaitingMessages.Situation(
            isLive: phase == .live, awaitsSet: subscriptions?.isWaiting == true,
            owesMark: marks.isOwed, mayPassMarks: !context.realm.isFlexible,
            hasUnacknowledged: uploads.hasUnacknowledged)
    }

    /// Deals with what need not wait any more.
    mutating func goOn() {
        while let message = waiting.next(situation, at: environment.now) { act(on: message) }
        if let heldRefusal, !marks.isOwed { return refuse(heldRefusal) }
        let situation = situation
        guard waiting.isLetGo, situation.isLive, !situation.awaitsSet, !situation.owesMark else { return }
        fail(
            .sessionClosed, .transient,
            "uploads waited too long for the data of a subscription set; they are to come again, now that it is sent")
    }

    /// The client leaves.
    mutating func takeLeave() {
        for message in waiting.leave(situation) { act(on: message) }
        waiting.clear()
    }

    private mutating func act(on message: WaitingMessages.Message) {
        switch message {
        case .upload(let upload, let bytes):
            guard !upload.entries.isEmpty else { return uploads.hold(upload, at: environment.now) }
            _ = uploads.takeHeld()
            publish(upload, bytes: bytes)
        case .beyond(let quota, let limit, let seconds):
            fail(
                .initialSyncNotCompleted, .transient,
                quota.refusal(limit: limit, app: context.realm.app, user: context.user),
                backoff: .afterQuota(seconds: seconds))
        case .mark(let request):
            if marks.take(request) { wantPage() }
        case .query(let set):
            if let refusal = subscriptions?.ask(for: set) { refuse(set.version, refusal) }
            wantPage()
        case .violation(let error): violated(error)
        }
    }
}
