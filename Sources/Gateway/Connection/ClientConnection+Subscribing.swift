import Messages
import SyncModel

/// How far a session's share in the bindings of the gateway's queue has come.
enum Subscription {
    /// The queue is being bound. The task returns true once that is done and the bind request has left.
    case underWay(Task<Bool, Never>)
    /// The bind request has left.
    case held
}

// What the owner is told of a session's coming and going, in this order whatever the client's haste: a stock client
// whose merge fails binds and unbinds within milliseconds, and only this tells how its reset ended.
extension ClientConnection {
    func subscribe(_ number: UInt64, _ realm: RealmName, then request: BindRequest) {
        let link = environment.link
        guard let bound = link.subscribe(realm) else {
            subscriptions[number] = .held
            return link.request(request, context: request.context)
        }
        // Unstructured: binding the queue takes a round trip to the broker, and the socket's other sessions go on.
        // It ends by the link's own deadlines.
        subscriptions[number] = .underWay(
            Task {
                do {
                    try await bound()
                } catch {
                    subscriptions[number] = nil
                    deliver(
                        .requestFailed(GatewayError(.brokerUnavailable, "no binding", underlying: error)), to: number)
                    return false
                }
                let isHere = numbers[number] != nil
                if isHere { subscriptions[number] = .held }
                // A new client file for nobody would be of no use, and without it there is nothing to tell.
                guard isHere || !request.needsClientFile else {
                    link.unsubscribe(realm)
                    return false
                }
                link.request(request, context: request.context)
                return true
            })
    }

    /// Gives the session's share back; called once for each session.
    func unsubscribe(_ number: UInt64, _ realm: RealmName) {
        let link = environment.link
        afterSubscribing(number) { link.unsubscribe(realm) }
    }

    /// Tells the owner that the client has gone, after it was told that the client had come.
    func report(_ notice: UnbindNotice, _ number: UInt64, _ realm: RealmName) {
        let link = environment.link
        afterSubscribing(number) { link.tell(notice, realm: realm) }
    }

    /// Acts at once if the bind request has left, later if it is about to, and never if it has not left and will not.
    private func afterSubscribing(_ number: UInt64, _ act: @escaping @Sendable () -> Void) {
        switch subscriptions[number] {
        // Unstructured: the keys are still on their way, and the session is not there any more to wait for them.
        case .underWay(let task): Task { if await task.value { act() } }
        case .held: act()
        case nil: break
        }
    }
}
