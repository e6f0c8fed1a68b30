internal import Changesets
internal import RealmState
internal import Synchronization

/// Finds the keys of a class by position, for states that have the same objects.
///
/// What lies between the first key and the farthest one asked for is gone through once. Of that, the last key of each page is remembered,
/// and one page as a whole; of a state that is in memory, all keys. No version of the realm is held.
final class KeyPages: Sendable {
    private static let pageSize = 1024

    private struct Contents {
        /// `RealmState.membership` of the states that the rest belongs to.
        var membership: UInt64?
        /// The last key of each full page that has been gone through.
        var ends: [ObjectKey] = []
        var page: (start: Int, keys: [ObjectKey])?

        /// - Returns: nil if there are not so many objects.
        mutating func key(at position: Int, of className: ByteString, _ state: borrowing RealmState) -> ObjectKey? {
            if membership != state.membership { self = Contents(membership: state.membership) }
            if let page, let key = Self.key(at: position, page) { return key }
            let found =
                state.base == nil
                ? (start: 0, keys: Array(state.keys(of: className)))
                : read(position / KeyPages.pageSize, of: className, state)
            page = found
            return Self.key(at: position, found)
        }

        private static func key(at position: Int, _ page: (start: Int, keys: [ObjectKey])) -> ObjectKey? {
            let offset = position - page.start
            return page.keys.indices.contains(offset) ? page.keys[offset] : nil
        }

        private mutating func read(
            _ number: Int, of className: ByteString, _ state: borrowing RealmState
        ) -> (start: Int, keys: [ObjectKey]) {
            let known = min(number, ends.count)
            var cursor = state.keys(of: className, after: known == 0 ? nil : ends[known - 1])
            for next in known...number {
                var keys: [ObjectKey] = []
                keys.reserveCapacity(KeyPages.pageSize)
                while keys.count < KeyPages.pageSize, let key = cursor.next() { keys.append(key) }
                if next == number || keys.count < KeyPages.pageSize {
                    if next == ends.count, keys.count == KeyPages.pageSize { ends += keys.suffix(1) }
                    return (next * KeyPages.pageSize, keys)
                }
                ends += keys.suffix(1)
            }
            return (0, [])
        }
    }
    private let contents = Mutex(Contents())

    /// - Returns: nil if there are not so many objects.
    func key(at position: Int, of className: ByteString, _ state: borrowing RealmState) -> ObjectKey? {
        contents.withLock { $0.key(at: position, of: className, state) }
    }
}
