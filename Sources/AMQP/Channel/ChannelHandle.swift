import Loops

/// The address of a channel on its connection's thread, for the API's objects.
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
