/// What was declared on a channel, in order, so that it can be declared again on another connection. Pure.
///
/// It holds what exists: undoing a declaration removes the declaration, and repeating one replaces it.
struct Topology {
    enum Key: Hashable {
        case exchange(String)
        case queue(String)
        case binding(Binding)
    }

    private var operations: [Key: (order: UInt64, operation: ChannelOperation)] = [:]
    private var nextOrder: UInt64 = 0

    /// The declarations, in the order in which they were first made.
    var inOrder: [ChannelOperation] { operations.values.sorted { $0.order < $1.order }.map(\.operation) }

    /// Records an operation that succeeded: a declaration is added, what the operation undoes is removed.
    mutating func note(_ operation: ChannelOperation) {
        switch operation {
        case .declareExchange(let exchange):
            if !exchange.passive { add(.exchange(exchange.name), operation) }
        case .declareQueue(let queue):
            if !queue.passive { add(.queue(queue.name), operation) }
        case .bindQueue(let binding): add(.binding(binding), operation)
        default: forget(operation)
        }
    }

    /// Removes a declaration, or what an operation undoes, with the bindings that go with it.
    mutating func forget(_ operation: ChannelOperation) {
        switch operation {
        case .declareExchange(let exchange): remove(.exchange(exchange.name)) { $0.exchange == exchange.name }
        case .deleteExchange(let name): remove(.exchange(name)) { $0.exchange == name }
        case .declareQueue(let queue): remove(.queue(queue.name)) { $0.queue == queue.name }
        case .deleteQueue(let name): remove(.queue(name)) { $0.queue == name }
        case .bindQueue(let binding), .unbindQueue(let binding): operations[.binding(binding)] = nil
        default: break
        }
    }

    private mutating func add(_ key: Key, _ operation: ChannelOperation) {
        let order = operations[key]?.order ?? nextOrder
        nextOrder += 1
        operations[key] = (order, operation)
    }

    private mutating func remove(_ key: Key, withBindings belongs: (Binding) -> Bool) {
        operations[key] = nil
        operations = operations.filter { key, _ in
            if case .binding(let binding) = key { !belongs(binding) } else { true }
        }
    }
}
