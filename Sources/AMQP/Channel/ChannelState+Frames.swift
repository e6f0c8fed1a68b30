import CRabbitMQ
import Logging

// What the broker sends on a channel.
extension ChannelState {
    func handle(_ frame: amqp_frame_t) throws(AMQPError) {
        switch frame.frame_type {
        case Frame.method:
            guard let arguments = frame.payload.method.decoded else {
                throw AMQPError(.protocolError, "expected the arguments of a method")
            }
            try handle(frame.payload.method.id, arguments)
        case Frame.header, Frame.body:
            let limit = loop.link.configuration.maxMessageBytes
            if let message = try incoming.receive(frame, limit: limit) { try handle(message) }
        default:
            break
        }
    }

    private func handle(_ method: UInt32, _ arguments: UnsafeMutableRawPointer) throws(AMQPError) {
        guard !incoming.isReceiving || method == Method.channelClose else {
            throw AMQPError(.protocolError, "expected the rest of a message, not a method")
        }
        switch method {
        case Method.basicDeliver:
            let deliver = arguments.load(as: amqp_basic_deliver_t.self)
            incoming.begin(
                .delivery(
                    consumers.find(deliver.consumer_tag), tag: deliver.delivery_tag,
                    redelivered: deliver.redelivered != 0),
                exchange: deliver.exchange, routingKey: deliver.routing_key)
        case Method.basicAck:
            let ack = arguments.load(as: amqp_basic_ack_t.self)
            try confirmed(ack.delivery_tag, multiple: ack.multiple, refused: false)
        case Method.basicNack:
            let nack = arguments.load(as: amqp_basic_nack_t.self)
            try confirmed(nack.delivery_tag, multiple: nack.multiple, refused: true)
        case Method.basicReturn:
            let back = arguments.load(as: amqp_basic_return_t.self)
            incoming.begin(
                .returned(replyCode: Int(back.reply_code), text: back.reply_text.text), exchange: back.exchange,
                routingKey: back.routing_key)
        case Method.basicGetOk:
            let got = arguments.load(as: amqp_basic_get_ok_t.self)
            incoming.begin(
                .fetched(tag: got.delivery_tag, redelivered: got.redelivered != 0, left: Int(got.message_count)),
                exchange: got.exchange, routingKey: got.routing_key)
        case Method.basicCancel:
            let tag = arguments.load(as: amqp_basic_cancel_t.self).consumer_tag.text
            logger.warning("consumer cancelled by the broker", metadata: ["consumer": "\(tag)"])
            let reason = "the broker cancelled the consumer, as it does when the queue is deleted"
            consumers.retire(tag, AMQPError(.consumerCancelled, reason))
        case Method.channelClose:
            let close = arguments.load(as: amqp_channel_close_t.self)
            try closedByBroker(
                replyCode: Int(close.reply_code), text: close.reply_text.text,
                method: UInt32(close.class_id) << 16 | UInt32(close.method_id))
        case Method.channelFlow:
            let flow = arguments.load(as: amqp_channel_flow_t.self)
            flows = flow.active != 0
            try loop.output.appendMethod(
                Method.channelFlowOk, amqp_channel_flow_ok_t(active: flow.active), channel: number)
            loop.wantsToPublish(self)
        default: try handleAnswer(method, arguments)
        }
    }

    private func handleAnswer(_ method: UInt32, _ arguments: UnsafeMutableRawPointer) throws(AMQPError) {
        switch method {
        case Method.reply(to: Method.basicConsume):
            let tag = arguments.load(as: amqp_basic_consume_ok_t.self).consumer_tag
            try answered(by: method, tag: tag, .done)
        case Method.reply(to: Method.basicCancel):
            let tag = arguments.load(as: amqp_basic_cancel_ok_t.self).consumer_tag
            try answered(by: method, tag: tag, .done)
        case Method.reply(to: Method.queueDeclare):
            let info = arguments.load(as: amqp_queue_declare_ok_t.self)
            let queue = AMQPQueueInfo(
                name: info.queue.text, messageCount: Int(info.message_count), consumerCount: Int(info.consumer_count))
            try answered(by: method, .queue(queue))
        case Method.reply(to: Method.queueDelete):
            let count = arguments.load(as: amqp_queue_delete_ok_t.self).message_count
            try answered(by: method, .count(Int(count)))
        case Method.reply(to: Method.queuePurge):
            let count = arguments.load(as: amqp_queue_purge_ok_t.self).message_count
            try answered(by: method, .count(Int(count)))
        case Method.basicGetEmpty: try answered(by: method, .message(nil))
        default: try answered(by: method, .done)
        }
    }

    // MARK: Whole messages

    private func handle(_ content: IncomingContent) throws(AMQPError) {
        switch content.purpose {
        case .delivery(let consumer, let tag, let redelivered):
            loop.statistics.delivered += 1
            guard let consumer, consumer.active, !consumer.dropped else {
                // The delivery crossed our cancellation, or overtook the cancellation's answer as a quorum queue's may.
                // It goes back to the queue at once, not when the channel closes.
                logger.info(
                    "a delivery crossed its consumer's cancellation and goes back",
                    metadata: ["consumer": "\(consumer?.subscription.tag ?? "gone")"])
                return try writeReject(tag, requeue: true)
            }
            let delivery = delivery(content, tag, redelivered, consumerTag: consumer.subscription.tag)
            if consumer.receive(delivery) { loop.arrivals.append(consumer) }
        case .fetched(let tag, let redelivered, let left):
            loop.statistics.delivered += 1
            consumers.addFetched(tag)
            try answered(
                by: Method.basicGetOk, .message(delivery(content, tag, redelivered, consumerTag: nil, left: left)))
        case .returned(let replyCode, let text): returned(content, replyCode: replyCode, text: text)
        case .discarded: break
        }
    }

    private func delivery(
        _ content: IncomingContent, _ tag: UInt64, _ redelivered: Bool, consumerTag: String?, left: Int? = nil
    ) -> AMQPDelivery {
        AMQPDelivery(
            message: content.message, exchange: content.exchange, routingKey: content.routingKey,
            redelivered: redelivered, deliveryTag: tag, consumerTag: consumerTag, messagesLeft: left,
            generation: loop.generation, epoch: epoch, channel: handle)
    }

    // MARK: Answers

    /// Answers deliveries, except those of an earlier opening and those that were answered before: answering such a tag
    /// would close the channel.
    func acknowledge(_ answer: Acknowledgement) {
        guard answer.epoch == epoch, answersDeliveries else {
            loop.statistics.staleAcknowledgements += 1
            return
        }
        do throws(AMQPError) {
            switch answer.kind {
            case .ack: if consumers.take(answer) { try writeAck(answer.tag) }
            case .reject(let requeue): if consumers.take(answer) { try writeReject(answer.tag, requeue: requeue) }
            case .ackUpTo:
                let (tags, areOldest) = consumers.takeAll(answer)
                if areOldest, let last = tags.last { return try writeAck(last, multiple: true) }
                for tag in tags { try writeAck(tag) }
            }
        } catch {
            logger.error("an acknowledgement could not be written", metadata: ["reason": "\(error)"])
        }
    }

    /// Whether deliveries can be answered. They can while the channel is being opened: consumers that are subscribed
    /// already get their first deliveries meanwhile.
    private var answersDeliveries: Bool {
        switch phase {
        case .open, .opening: true
        case .detached, .waiting, .reopening, .closing, .closed: false
        }
    }

    private func writeAck(_ tag: UInt64, multiple: Bool = false) throws(AMQPError) {
        let arguments = amqp_basic_ack_t(delivery_tag: tag, multiple: multiple.flag)
        try loop.output.appendMethod(Method.basicAck, arguments, channel: number)
    }

    private func writeReject(_ tag: UInt64, requeue: Bool) throws(AMQPError) {
        let arguments = amqp_basic_reject_t(delivery_tag: tag, requeue: requeue.flag)
        try loop.output.appendMethod(Method.basicReject, arguments, channel: number)
    }
}
