/// What was declared on a channel, in order, so that it can be declared again on another connection. Pure.
///
/// It grows with what exists: undoing a declaration forgets it, and repeating one replaces it.
struct Topology {
    enum Key: Hashable {
        case exchange(String)
        case queue(String)
        case exchangeBinding(Binding)
        case queueBinding(Binding)
    }

    private var operations: [Key: (order: UInt64, operation: ChannelOperation)] = [:]
    private var nextOrder: UInt64 = 0

    /// The declarations, in the order in which they were first made.
    var inOrder: [ChannelOperation] { operations.values.sorted { $0.order < $1.order }.map(\.operation) }

    /// Remembers an operation that succeeded, or what it undoes.
    mutating func note(_ operation: ChannelOperation) {
        switch operation {
        case .declareExchange(let exchange):
            if !exchange.passive { add(.exchange(exchange.name), operation) }
        case .declareQueue(let queue):
            if !queue.passive { add(.queue(queue.name), operation) }
        case .bindExchange(let binding): add(.exchangeBinding(binding), operation)
        case .bindQueue(let binding): add(.queueBinding(binding), operation)
        default: forget(operation)
        }
    }

    /// Forgets a declaration, or what an operation undoes, with the bindings that go with it.
    mutating func forget(_ operation: ChannelOperation) {
        switch operation {
        case .declareExchange(let exchange): forgetExchange(exchange.name)
        case .deleteExchange(let name, _): forgetExchange(name)
        case .declareQueue(let queue): forgetQueue(queue.name)
        case .deleteQueue(let name, _, _): forgetQueue(name)
        case .bindExchange(let binding), .unbindExchange(let binding): operations[.exchangeBinding(binding)] = nil
        case .bindQueue(let binding), .unbindQueue(let binding): operations[.queueBinding(binding)] = nil
        default: break
        }
    }

    private mutating func add(_ key: Key, _ operation: ChannelOperation) {
        let order = operations[key]?.order ?? nextOrder
        nextOrder += 1
        operations[key] = (order, operation)
    }

    private mutating func forgetExchange(_ name: String) {
        operations[.exchange(name)] = nil
        operations = operations.filter { key, _ in
            switch key {
            case .exchangeBinding(let binding): binding.source != name && binding.destination != name
            case .queueBinding(let binding): binding.source != name
            default: true
            }
        }
    }

    private mutating func forgetQueue(_ name: String) {
        operations[.queue(name)] = nil
        operations = operations.filter { key, _ in
            if case .queueBinding(let binding) = key { binding.destination != name } else { true }
        }
    }
}
