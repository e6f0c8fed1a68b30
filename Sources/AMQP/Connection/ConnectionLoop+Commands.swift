import CRabbitMQ
import Loops

// Carrying out what callers ask for.
extension ConnectionLoop {
    func handle(_ command: Command) {
        switch command {
        case .publish(let id, let publish): enqueue(id, CollectionOfOne(publish))
        case .publishBatch(let id, let publishes): enqueue(id, publishes)
        case .acknowledge(let id, let answer):
            guard let channel = channels[id] else {
                statistics.staleAcknowledgements += 1
                return
            }
            channel.acknowledge(answer)
        case .request(let id, let request):
            if let channel = channels[id] {
                channel.submit(request)
            } else {
                request.refuse()
            }
        case .openChannel(let opening): open(opening)
        case .dropConsumer(let id, let subscription): channels[id]?.drop(subscription)
        case .connected(let outcome): connected(outcome)
        case .stop: stop()
        }
    }

    private func enqueue(_ id: ChannelID, _ publishes: some Sequence<PendingPublish>) {
        if let channel = channels[id], channel.takesPublishes {
            channel.enqueue(publishes)
        } else {
            for publish in publishes { publish.resolve(AMQPError(.closed, "the channel is closed")) }
        }
    }

    /// Puts a channel on the list of those with messages to write, if it has any.
    func wantsToPublish(_ channel: ChannelState) {
        guard !channel.listed, channel.outgoing.hasWaiting else { return }
        channel.listed = true
        publishers.append(channel)
    }

    private func open(_ opening: ChannelOpening) {
        guard stopAt == nil else { return opening.continuation.resume(returning: .failure(.connectionClosed)) }
        guard let number = (1...UInt16(clamping: channelMax)).first(where: { numbers[$0] == nil }) else {
            let error = AMQPError(.invalidArgument, "all \(channelMax) channels of the connection are in use")
            return opening.continuation.resume(returning: .failure(error))
        }
        let channel = ChannelState(opening, number: number, loop: self)
        channels[opening.id] = channel
        numbers[number] = channel
        if transport != nil { channel.attach() }
        armDeadlines()
    }

    /// Removes a channel that is closed; its number is free again.
    func remove(_ channel: ChannelState) {
        channels[channel.id] = nil
        if numbers[channel.number] === channel { numbers[channel.number] = nil }
        if channel.listed {
            publishers.removeAll { $0 === channel }
            channel.listed = false
        }
    }

    /// Closes the connection; the loop ends when the broker has answered, or after two seconds.
    private func stop() {
        guard stopAt == nil else { return }
        for channel in Array(channels.values) { channel.end(closing: false) }
        guard let transport else {
            stopped = true
            return
        }
        stopAt = now.advanced(by: .seconds(2))
        do throws(AMQPError) {
            var arguments = amqp_connection_close_t()
            arguments.reply_code = 200
            try output.appendMethod(Method.connectionClose, arguments, channel: 0)
            try flush(transport)
        } catch {
            stopped = true
        }
    }
}
