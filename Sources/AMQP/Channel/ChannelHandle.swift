/// How the API reaches a channel on its connection's thread.
final class ChannelHandle: Sendable {
    let id: ChannelID
    let link: ConnectionLink

    init(id: ChannelID, link: ConnectionLink) {
        self.id = id
        self.link = link
    }

    func send(_ command: Command) throws(AMQPError) {
        guard link.inbox.push(command) else { throw .connectionClosed }
    }
}
