import CRabbitMQ

/// A binding between an exchange and a queue, or another exchange.
struct Binding: Hashable, Sendable {
    var destination: String
    var source: String
    var routingKey: String
    var arguments: AMQPTable
}

/// An exchange as it is declared.
struct ExchangeDeclaration: Hashable, Sendable {
    var name: String
    var type: AMQPExchangeType
    var durable: Bool
    var autoDelete: Bool
    var `internal`: Bool
    var passive: Bool
    var arguments: AMQPTable
}

/// A question to the broker on a channel, which answers each in turn.
enum ChannelOperation: Sendable {
    case open
    case close
    case qos(prefetch: UInt16)
    case confirmSelect
    case declareExchange(ExchangeDeclaration)
    case deleteExchange(String, ifUnused: Bool)
    case bindExchange(Binding)
    case unbindExchange(Binding)
    case declareQueue(AMQPQueueDeclaration)
    case deleteQueue(String, ifUnused: Bool, ifEmpty: Bool)
    case purgeQueue(String)
    case bindQueue(Binding)
    case unbindQueue(Binding)
    case consume(Subscription)
    case cancel(tag: String)
    case get(queue: String)

    var method: UInt32 {
        switch self {
        case .open: Method.channelOpen
        case .close: Method.channelClose
        case .qos: Method.basicQos
        case .confirmSelect: Method.confirmSelect
        case .declareExchange: Method.exchangeDeclare
        case .deleteExchange: Method.exchangeDelete
        case .bindExchange: Method.exchangeBind
        case .unbindExchange: Method.exchangeUnbind
        case .declareQueue: Method.queueDeclare
        case .deleteQueue: Method.queueDelete
        case .purgeQueue: Method.queuePurge
        case .bindQueue: Method.queueBind
        case .unbindQueue: Method.queueUnbind
        case .consume: Method.basicConsume
        case .cancel: Method.basicCancel
        case .get: Method.basicGet
        }
    }

    /// The consumer that the operation and its answer are about.
    var consumerTag: String? {
        switch self {
        case .consume(let subscription): subscription.tag
        case .cancel(let tag): tag
        default: nil
        }
    }

    /// Whether the broker's reason names the queue or exchange that this is about, which it puts in quotes.
    func isNamed(in text: String) -> Bool {
        let names: [String] =
            switch self {
            case .open, .close, .qos, .confirmSelect, .cancel: []
            case .declareExchange(let exchange): [exchange.name]
            case .deleteExchange(let name, _), .deleteQueue(let name, _, _), .purgeQueue(let name): [name]
            case .get(let name): [name]
            case .declareQueue(let queue): [queue.name]
            case .consume(let subscription): [subscription.queue]
            case .bindExchange(let binding), .unbindExchange(let binding), .bindQueue(let binding),
                .unbindQueue(let binding):
                [binding.destination, binding.source]
            }
        return names.contains { text.contains("'\($0)'") }
    }

    /// Whether a method from the broker answers this.
    func isAnswered(by reply: UInt32) -> Bool {
        if case .get = self { return reply == Method.basicGetOk || reply == Method.basicGetEmpty }
        return reply == Method.reply(to: method)
    }

    /// Appends the method's frame.
    func encode(to output: inout OutputBuffer, channel: UInt16, frameMax: Int) throws(AMQPError) {
        var arena = Arena()
        switch self {
        case .open:
            try output.appendMethod(method, amqp_channel_open_t(), channel: channel, frameMax: frameMax)
        case .close:
            var arguments = amqp_channel_close_t()
            arguments.reply_code = 200
            try output.appendMethod(method, arguments, channel: channel, frameMax: frameMax)
        case .qos(let prefetch):
            var arguments = amqp_basic_qos_t()
            arguments.prefetch_count = prefetch
            try output.appendMethod(method, arguments, channel: channel, frameMax: frameMax)
        case .confirmSelect:
            try output.appendMethod(method, amqp_confirm_select_t(), channel: channel, frameMax: frameMax)
        case .declareExchange(let exchange):
            var arguments = amqp_exchange_declare_t()
            arguments.exchange = try arena.shortText(exchange.name, "name of the exchange")
            arguments.type = try arena.shortText(exchange.type.name, "type of the exchange")
            arguments.passive = exchange.passive ? 1 : 0
            arguments.durable = exchange.durable ? 1 : 0
            arguments.auto_delete = exchange.autoDelete ? 1 : 0
            arguments.internal = exchange.internal ? 1 : 0
            arguments.arguments = try arena.table(exchange.arguments)
            try output.appendMethod(method, arguments, channel: channel, frameMax: frameMax)
        case .deleteExchange(let name, let ifUnused):
            var arguments = amqp_exchange_delete_t()
            arguments.exchange = try arena.shortText(name, "name of the exchange")
            arguments.if_unused = ifUnused ? 1 : 0
            try output.appendMethod(method, arguments, channel: channel, frameMax: frameMax)
        case .bindExchange(let binding):
            var arguments = amqp_exchange_bind_t()
            arguments.destination = try arena.shortText(binding.destination, "name of the exchange")
            arguments.source = try arena.shortText(binding.source, "name of the exchange")
            arguments.routing_key = try arena.shortText(binding.routingKey, "routing key")
            arguments.arguments = try arena.table(binding.arguments)
            try output.appendMethod(method, arguments, channel: channel, frameMax: frameMax)
        case .unbindExchange(let binding):
            var arguments = amqp_exchange_unbind_t()
            arguments.destination = try arena.shortText(binding.destination, "name of the exchange")
            arguments.source = try arena.shortText(binding.source, "name of the exchange")
            arguments.routing_key = try arena.shortText(binding.routingKey, "routing key")
            arguments.arguments = try arena.table(binding.arguments)
            try output.appendMethod(method, arguments, channel: channel, frameMax: frameMax)
        case .declareQueue, .deleteQueue, .purgeQueue, .bindQueue, .unbindQueue:
            try encodeQueueMethod(to: &output, &arena, channel, frameMax)
        case .consume, .cancel, .get:
            try encodeBasicMethod(to: &output, &arena, channel, frameMax)
        }
    }

    private func encodeQueueMethod(
        to output: inout OutputBuffer, _ arena: inout Arena, _ channel: UInt16, _ frameMax: Int
    ) throws(AMQPError) {
        switch self {
        case .declareQueue(let queue):
            var arguments = amqp_queue_declare_t()
            arguments.queue = try arena.shortText(queue.name, "name of the queue")
            arguments.passive = queue.passive ? 1 : 0
            arguments.durable = queue.durable ? 1 : 0
            arguments.exclusive = queue.exclusive ? 1 : 0
            arguments.auto_delete = queue.autoDelete ? 1 : 0
            arguments.arguments = try arena.table(queue.arguments)
            try output.appendMethod(method, arguments, channel: channel, frameMax: frameMax)
        case .deleteQueue(let name, let ifUnused, let ifEmpty):
            var arguments = amqp_queue_delete_t()
            arguments.queue = try arena.shortText(name, "name of the queue")
            arguments.if_unused = ifUnused ? 1 : 0
            arguments.if_empty = ifEmpty ? 1 : 0
            try output.appendMethod(method, arguments, channel: channel, frameMax: frameMax)
        case .purgeQueue(let name):
            var arguments = amqp_queue_purge_t()
            arguments.queue = try arena.shortText(name, "name of the queue")
            try output.appendMethod(method, arguments, channel: channel, frameMax: frameMax)
        case .bindQueue(let binding):
            var arguments = amqp_queue_bind_t()
            arguments.queue = try arena.shortText(binding.destination, "name of the queue")
            arguments.exchange = try arena.shortText(binding.source, "name of the exchange")
            arguments.routing_key = try arena.shortText(binding.routingKey, "routing key")
            arguments.arguments = try arena.table(binding.arguments)
            try output.appendMethod(method, arguments, channel: channel, frameMax: frameMax)
        case .unbindQueue(let binding):
            var arguments = amqp_queue_unbind_t()
            arguments.queue = try arena.shortText(binding.destination, "name of the queue")
            arguments.exchange = try arena.shortText(binding.source, "name of the exchange")
            arguments.routing_key = try arena.shortText(binding.routingKey, "routing key")
            arguments.arguments = try arena.table(binding.arguments)
            try output.appendMethod(method, arguments, channel: channel, frameMax: frameMax)
        default:
            break
        }
    }

    private func encodeBasicMethod(
        to output: inout OutputBuffer, _ arena: inout Arena, _ channel: UInt16, _ frameMax: Int
    ) throws(AMQPError) {
        switch self {
        case .consume(let subscription):
            var arguments = amqp_basic_consume_t()
            arguments.queue = try arena.shortText(subscription.queue, "name of the queue")
            arguments.consumer_tag = try arena.shortText(subscription.tag, "consumer tag")
            arguments.exclusive = subscription.exclusive ? 1 : 0
            arguments.arguments = try arena.table(subscription.arguments)
            try output.appendMethod(method, arguments, channel: channel, frameMax: frameMax)
        case .cancel(let tag):
            var arguments = amqp_basic_cancel_t()
            arguments.consumer_tag = try arena.shortText(tag, "consumer tag")
            try output.appendMethod(method, arguments, channel: channel, frameMax: frameMax)
        case .get(let queue):
            var arguments = amqp_basic_get_t()
            arguments.queue = try arena.shortText(queue, "name of the queue")
            try output.appendMethod(method, arguments, channel: channel, frameMax: frameMax)
        default:
            break
        }
    }
}

/// What the broker answers to an operation.
enum ChannelReply: Sendable {
    case done
    case queue(AMQPQueueInfo)
    case count(Int)
    case message(AMQPDelivery?)
}

/// An operation, until when it must be answered, and who awaits that.
struct ChannelRequest: Sendable {
    let operation: ChannelOperation
    let deadline: Monotonic
    /// Whether a declaration is made again when the channel is opened again.
    let record: Bool
    let continuation: CheckedContinuation<Result<ChannelReply, AMQPError>, Never>?
}
