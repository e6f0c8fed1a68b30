import CRabbitMQ

/// A binding of a queue to an exchange.
struct Binding: Hashable, Sendable {
    var queue: String
    var exchange: String
    var routingKey: String
    var arguments: AMQPTable
}

/// An exchange as it is declared.
struct ExchangeDeclaration: Hashable, Sendable {
    var name: String
    var type: AMQPExchangeType
    var durable: Bool
    var autoDelete: Bool
    var passive: Bool
    var arguments: AMQPTable
}

/// Something that a channel asks of the broker, which answers each operation in turn.
enum ChannelOperation: Sendable {
    case open
    case close
    case qos(prefetch: UInt16)
    case confirmSelect
    case declareExchange(ExchangeDeclaration)
    case deleteExchange(String)
    case declareQueue(AMQPQueueDeclaration)
    case deleteQueue(String)
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

    /// The tag of the consumer that the operation starts or ends; the broker's answer repeats the tag.
    var consumerTag: String? {
        switch self {
        case .consume(let subscription): subscription.tag
        case .cancel(let tag): tag
        default: nil
        }
    }

    /// Whether the text of a broker's error names, in quotes, a queue or exchange of this operation.
    func isNamed(in text: String) -> Bool {
        let names: [String] =
            switch self {
            case .open, .close, .qos, .confirmSelect, .cancel: []
            case .declareExchange(let exchange): [exchange.name]
            case .deleteExchange(let name), .deleteQueue(let name), .purgeQueue(let name), .get(let name): [name]
            case .declareQueue(let queue): [queue.name]
            case .consume(let subscription): [subscription.queue]
            case .bindQueue(let binding), .unbindQueue(let binding): [binding.queue, binding.exchange]
            }
        return names.contains { text.contains("'\($0)'") }
    }

    /// Whether a method from the broker answers this operation.
    func isAnswered(by reply: UInt32) -> Bool {
        if case .get = self { return reply == Method.basicGetOk || reply == Method.basicGetEmpty }
        return reply == Method.reply(to: method)
    }

    /// Appends the method's frame.
    ///
    /// - Throws: `invalidArgument` for a name or a table that AMQP cannot carry.
    func encode(to output: inout OutputBuffer, channel: UInt16) throws(AMQPError) {
        var arena = Arena()
        switch self {
        case .open:
            try output.appendMethod(method, amqp_channel_open_t(), channel: channel)
        case .close:
            var arguments = amqp_channel_close_t()
            arguments.reply_code = 200
            try output.appendMethod(method, arguments, channel: channel)
        case .qos(let prefetch):
            let arguments = amqp_basic_qos_t(prefetch_size: 0, prefetch_count: prefetch, global: 0)
            try output.appendMethod(method, arguments, channel: channel)
        case .confirmSelect:
            try output.appendMethod(method, amqp_confirm_select_t(), channel: channel)
        case .declareExchange(let exchange):
            let arguments = amqp_exchange_declare_t(
                ticket: 0, exchange: try arena.shortText(exchange.name, "name of the exchange"),
                type: arena.bytes(exchange.type.rawValue), passive: exchange.passive.flag,
                durable: exchange.durable.flag, auto_delete: exchange.autoDelete.flag, internal: 0, nowait: 0,
                arguments: try arena.table(exchange.arguments))
            try output.appendMethod(method, arguments, channel: channel)
        case .deleteExchange(let name):
            let exchange = try arena.shortText(name, "name of the exchange")
            let arguments = amqp_exchange_delete_t(ticket: 0, exchange: exchange, if_unused: 0, nowait: 0)
            try output.appendMethod(method, arguments, channel: channel)
        case .declareQueue(let queue):
            let arguments = amqp_queue_declare_t(
                ticket: 0, queue: try arena.shortText(queue.name, "name of the queue"), passive: queue.passive.flag,
                durable: queue.durable.flag, exclusive: queue.exclusive.flag, auto_delete: queue.autoDelete.flag,
                nowait: 0, arguments: try arena.table(queue.arguments))
            try output.appendMethod(method, arguments, channel: channel)
        case .deleteQueue(let name):
            let queue = try arena.shortText(name, "name of the queue")
            let arguments = amqp_queue_delete_t(ticket: 0, queue: queue, if_unused: 0, if_empty: 0, nowait: 0)
            try output.appendMethod(method, arguments, channel: channel)
        case .purgeQueue(let name):
            let queue = try arena.shortText(name, "name of the queue")
            try output.appendMethod(method, amqp_queue_purge_t(ticket: 0, queue: queue, nowait: 0), channel: channel)
        case .bindQueue(let binding):
            let arguments = amqp_queue_bind_t(
                ticket: 0, queue: try arena.shortText(binding.queue, "name of the queue"),
                exchange: try arena.shortText(binding.exchange, "name of the exchange"),
                routing_key: try arena.shortText(binding.routingKey, "routing key"), nowait: 0,
                arguments: try arena.table(binding.arguments))
            try output.appendMethod(method, arguments, channel: channel)
        case .unbindQueue(let binding):
            let arguments = amqp_queue_unbind_t(
                ticket: 0, queue: try arena.shortText(binding.queue, "name of the queue"),
                exchange: try arena.shortText(binding.exchange, "name of the exchange"),
                routing_key: try arena.shortText(binding.routingKey, "routing key"),
                arguments: try arena.table(binding.arguments))
            try output.appendMethod(method, arguments, channel: channel)
        case .consume(let subscription):
            let arguments = amqp_basic_consume_t(
                ticket: 0, queue: try arena.shortText(subscription.queue, "name of the queue"),
                consumer_tag: try arena.shortText(subscription.tag, "consumer tag"), no_local: 0, no_ack: 0,
                exclusive: subscription.exclusive.flag, nowait: 0, arguments: try arena.table(subscription.arguments))
            try output.appendMethod(method, arguments, channel: channel)
        case .cancel(let tag):
            let consumer = try arena.shortText(tag, "consumer tag")
            try output.appendMethod(method, amqp_basic_cancel_t(consumer_tag: consumer, nowait: 0), channel: channel)
        case .get(let name):
            let queue = try arena.shortText(name, "name of the queue")
            try output.appendMethod(method, amqp_basic_get_t(ticket: 0, queue: queue, no_ack: 0), channel: channel)
        }
    }
}

extension Bool {
    /// The truth value as the C library has it.
    var flag: amqp_boolean_t { self ? 1 : 0 }
}
