internal import Synchronization

/// The blocks to be called when something has changed.
final class Listeners: Sendable {
    private struct Contents {
        var blocks: [UInt64: @Sendable () -> Void] = [:]
        var last: UInt64 = 0
    }
    private let contents = Mutex(Contents())

    var isEmpty: Bool { contents.withLock { $0.blocks.isEmpty } }

    /// Calls `block` after each change, for as long as the token is kept.
    func add(_ block: @escaping @Sendable () -> Void) -> NotificationToken {
        let number = contents.withLock { contents in
            contents.last += 1
            contents.blocks[contents.last] = block
            return contents.last
        }
        return NotificationToken { [weak self] in self?.contents.withLock { $0.blocks[number] = nil } }
    }

    func call() {
        let blocks = contents.withLock { Array($0.blocks.values) }
        for block in blocks { block() }
    }
}
