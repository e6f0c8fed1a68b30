import Messages
import SyncModel

/// How far a session's share in the bindings of the gateway's queue has come.
enum Subscription {
    /// The queue is being bound; then the bind request leaves, and true comes out.
    case underWay(Task<Bool, Never>)
    /// The same, for a session that has ended meanwhile.
    case leaving(Task<Bool, Never>)
    /// The bind request has left.
    case held
    /// Given back; the owner has yet to hear that the client has gone.
    case released
}

// What the owner is told of a session's coming and going, in this order whatever the client's haste: a stock client
// whose merge fails binds and unbinds within milliseconds, and only this tells how its reset ended.
extension ClientConnection {
    func subscribe(_ number: UInt64, _ realm: RealmName, then request: BindRequest) {
        let link = environment.link
        // Unstructured: binding the queue takes a round trip to the broker, and the socket's other sessions go on.
        // It ends by the link's own deadlines.
        subscriptions[number] = .underWay(
            Task {
                do {
                    try await link.subscribe(realm)
                } catch {
                    subscriptions[number] = nil
                    deliver(
                        .requestFailed(GatewayError(.brokerUnavailable, "no binding", underlying: error)), to: number)
                    return false
                }
                let isHere = numbers[number] != nil
                if isHere {
                    if case .leaving = subscriptions[number] {
                        subscriptions[number] = .released
                    } else {
                        subscriptions[number] = .held
                    }
                }
                // A new client file for nobody would be of no use, and without it there is nothing to tell.
                guard isHere || !request.needsClientFile else {
                    await link.unsubscribe(realm)
                    return false
                }
                link.request(request, context: request.context)
                return true
            })
    }

    func unsubscribe(_ number: UInt64, _ realm: RealmName) {
        let link = environment.link
        switch subscriptions[number] {
        case .underWay(let task):
            subscriptions[number] = .leaving(task)
            // Unstructured: the keys are still on their way, and must be given back after that.
            Task { if await task.value { await link.unsubscribe(realm) } }
        case .held:
            subscriptions[number] = .released
            Task { await link.unsubscribe(realm) }
        case .leaving, .released, nil: break
        }
    }

    /// Tells the owner that the client has gone, after it was told that the client had come.
    func report(_ notice: UnbindNotice, _ number: UInt64, _ realm: RealmName) {
        let link = environment.link
        switch subscriptions[number] {
        case .underWay(let task), .leaving(let task): Task { if await task.value { link.tell(notice, realm: realm) } }
        case .held, .released: link.tell(notice, realm: realm)
        case nil: break
        }
    }
}
