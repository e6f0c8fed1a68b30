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
        case Frame.header:
            guard content != nil, let decoded = frame.payload.properties.decoded,
                Int(frame.payload.properties.class_id) == Frame.basicClass
            else {
                throw AMQPError(.protocolError, "expected a method before the header of a message")
            }
            let source = decoded.assumingMemoryBound(to: amqp_basic_properties_t.self)
            try content?.begin(
                properties.read(source.pointee), bodyBytes: frame.payload.properties.body_size,
                limit: loop.link.configuration.maxMessageBytes)
            if content?.isComplete == true { try complete() }
        case Frame.body:
            guard content != nil else {
                throw AMQPError(.protocolError, "expected a method before the body of a message")
            }
            try content?.append(frame.payload.body_fragment.buffer)
            if content?.isComplete == true { try complete() }
        default:
            break
        }
    }

    private func handle(_ method: UInt32, _ arguments: UnsafeMutableRawPointer) throws(AMQPError) {
        guard content == nil || method == Method.channelClose else {
            throw AMQPError(.protocolError, "expected the rest of a message, not a method")
        }
        switch method {
        case Method.basicDeliver:
            let deliver = arguments.assumingMemoryBound(to: amqp_basic_deliver_t.self).pointee
            content = IncomingContent(
                .delivery(
                    consumer(deliver.consumer_tag), tag: deliver.delivery_tag, redelivered: deliver.redelivered != 0),
                exchange: exchangeNames.text(deliver.exchange), routingKey: routingKeys.text(deliver.routing_key))
        case Method.basicAck:
            let ack = arguments.assumingMemoryBound(to: amqp_basic_ack_t.self).pointee
            try confirmed(ack.delivery_tag, multiple: ack.multiple != 0, refused: false)
        case Method.basicNack:
            let nack = arguments.assumingMemoryBound(to: amqp_basic_nack_t.self).pointee
            try confirmed(nack.delivery_tag, multiple: nack.multiple != 0, refused: true)
        case Method.basicReturn:
            let back = arguments.assumingMemoryBound(to: amqp_basic_return_t.self).pointee
            content = IncomingContent(
                .returned(replyCode: Int(back.reply_code), text: back.reply_text.text),
                exchange: back.exchange.text, routingKey: back.routing_key.text)
        case Method.basicGetOk:
            let got = arguments.assumingMemoryBound(to: amqp_basic_get_ok_t.self).pointee
            content = IncomingContent(
                .fetched(tag: got.delivery_tag, redelivered: got.redelivered != 0, left: Int(got.message_count)),
                exchange: got.exchange.text, routingKey: got.routing_key.text)
        case Method.basicCancel:
            let cancel = arguments.assumingMemoryBound(to: amqp_basic_cancel_t.self).pointee
            cancelledByBroker(cancel.consumer_tag.text)
        case Method.channelClose:
            let close = arguments.assumingMemoryBound(to: amqp_channel_close_t.self).pointee
            try closedByBroker(
                replyCode: Int(close.reply_code), text: close.reply_text.text,
                method: UInt32(close.class_id) << 16 | UInt32(close.method_id))
        case Method.channelFlow:
            flows = arguments.assumingMemoryBound(to: amqp_channel_flow_t.self).pointee.active != 0
            var answer = amqp_channel_flow_ok_t()
            answer.active = flows ? 1 : 0
            try loop.output.appendMethod(Method.channelFlowOk, answer, channel: number, frameMax: loop.frameMax)
            loop.wantsToPublish(self)
        case Method.reply(to: Method.basicConsume):
            let answer = arguments.assumingMemoryBound(to: amqp_basic_consume_ok_t.self).pointee
            try answered(by: method, tag: answer.consumer_tag, .done)
        case Method.reply(to: Method.basicCancel):
            let answer = arguments.assumingMemoryBound(to: amqp_basic_cancel_ok_t.self).pointee
            try answered(by: method, tag: answer.consumer_tag, .done)
        default:
            try answered(by: method, reply(method, arguments))
        }
    }

    private func reply(_ method: UInt32, _ arguments: UnsafeMutableRawPointer) -> ChannelReply {
        switch method {
        case Method.reply(to: Method.queueDeclare):
            let info = arguments.assumingMemoryBound(to: amqp_queue_declare_ok_t.self).pointee
            return .queue(
                AMQPQueueInfo(
                    name: info.queue.text, messageCount: Int(info.message_count),
                    consumerCount: Int(info.consumer_count)))
        case Method.reply(to: Method.queueDelete):
            return .count(Int(arguments.assumingMemoryBound(to: amqp_queue_delete_ok_t.self).pointee.message_count))
        case Method.reply(to: Method.queuePurge):
            return .count(Int(arguments.assumingMemoryBound(to: amqp_queue_purge_ok_t.self).pointee.message_count))
        case Method.basicGetEmpty:
            return .message(nil)
        default:
            return .done
        }
    }

    private func consumer(_ tag: amqp_bytes_t) -> ConsumerState? {
        if let last = lastConsumer, tag.matches(last.subscription.tag) { return last }
        lastConsumer = consumers[tag.text]
        return lastConsumer
    }

    private func cancelledByBroker(_ tag: String) {
        logger.warning("consumer cancelled by the broker", metadata: ["consumer": "\(tag)"])
        retire(
            tag,
            AMQPError(.consumerCancelled, "the broker cancelled the consumer, as it does when the queue is deleted"))
    }

    // MARK: Whole messages

    private func complete() throws(AMQPError) {
        guard let content else { return }
        self.content = nil
        switch content.purpose {
        case .delivery(let consumer, let tag, let redelivered):
            loop.statistics.delivered += 1
            guard let consumer, consumer.active, !consumer.dropped else {
                // It crossed our cancellation, or overtook its answer as a quorum queue's may: back to the queue at once,
                // not when the channel closes.
                logger.info(
                    "a delivery crossed its consumer's cancellation and goes back",
                    metadata: ["consumer": "\(consumer?.subscription.tag ?? "gone")"])
                return try writeReject(tag, requeue: true)
            }
            consumer.unacked.append(tag)
            let delivery = delivery(content, tag, redelivered, consumerTag: consumer.subscription.tag)
            if consumer.arrived.isEmpty { loop.arrivals.append(consumer) }
            consumer.arrived.append(delivery)
        case .fetched(let tag, let redelivered, let left):
            loop.statistics.delivered += 1
            fetched.append(tag)
            try answered(
                by: Method.basicGetOk, .message(delivery(content, tag, redelivered, consumerTag: nil, left: left)))
        case .returned(let replyCode, let text):
            returned(
                content.message, exchange: content.exchange, routingKey: content.routingKey, replyCode: replyCode,
                text: text)
        case .discarded:
            break
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

    /// Answers deliveries, unless they are of an earlier opening or were answered before: such a tag would close the
    /// channel.
    func acknowledge(_ answer: Acknowledgement) {
        guard answer.epoch == epoch, answersDeliveries else {
            loop.statistics.staleAcknowledgements += 1
            return
        }
        do throws(AMQPError) {
            switch answer.kind {
            case .ack: if takeTag(answer) { try writeAck(answer.tag, multiple: false) }
            case .reject(let requeue): if takeTag(answer) { try writeReject(answer.tag, requeue: requeue) }
            case .ackUpTo: try acknowledgeUpTo(answer)
            }
        } catch {
            logger.error("an acknowledgement could not be written", metadata: ["reason": "\(error)"])
        }
    }

    /// While it is being opened too: consumers that are subscribed already get their first deliveries meanwhile.
    private var answersDeliveries: Bool {
        switch phase {
        case .open, .opening: true
        case .detached, .waiting, .closing, .closed: false
        }
    }

    private func takeTag(_ answer: Acknowledgement) -> Bool {
        guard let name = answer.consumerTag else { return fetched.remove(answer.tag) }
        guard let consumer = consumers[name], consumer.unacked.remove(answer.tag) else { return false }
        dropIfDone(consumer)
        return true
    }

    private func acknowledgeUpTo(_ answer: Acknowledgement) throws(AMQPError) {
        guard let name = answer.consumerTag, let consumer = consumers[name] else { return }
        let tags = consumer.unacked.removeAll(upTo: answer.tag)
        guard let last = tags.last else { return }
        // One answer may cover many tags of the channel, so it must not cover another consumer's.
        let alone = consumers.values.allSatisfy { ($0.unacked.first ?? .max) > last } && (fetched.first ?? .max) > last
        if alone {
            try writeAck(last, multiple: true)
        } else {
            for tag in tags { try writeAck(tag, multiple: false) }
        }
        dropIfDone(consumer)
    }

    private func writeAck(_ tag: UInt64, multiple: Bool) throws(AMQPError) {
        var arguments = amqp_basic_ack_t()
        arguments.delivery_tag = tag
        arguments.multiple = multiple ? 1 : 0
        try loop.output.appendMethod(Method.basicAck, arguments, channel: number, frameMax: loop.frameMax)
    }

    private func writeReject(_ tag: UInt64, requeue: Bool) throws(AMQPError) {
        var arguments = amqp_basic_reject_t()
        arguments.delivery_tag = tag
        arguments.requeue = requeue ? 1 : 0
        try loop.output.appendMethod(Method.basicReject, arguments, channel: number, frameMax: loop.frameMax)
    }
}
