internal import Changesets
internal import RealmState
internal import Synchronization

/// What a place's own transactions have done to places of embedded objects, so that who holds one of these objects finds it where it is now, or learns that it is gone.
///
/// Embedded objects have no names of their own: they are where they are. What other devices and threads do to a list is not followed.
final class EmbeddedMoves: Sendable {
    enum Move: Sendable {
        /// Another value has come to a place.
        case replaced(FieldAddress)
        /// A collection holds something else altogether.
        case cleared(FieldAddress)
        case inserted(FieldAddress, at: Int)
        case removed(FieldAddress, at: Int)
        case moved(FieldAddress, from: Int, to: Int)
        case swapped(FieldAddress, Int, Int)
    }

    private static let maxCount = 10_000

    private struct Log {
        var moves: [(number: Int, move: Move)] = []
        /// The number of the last move before the transaction.
        var start = 0
    }

    /// The number of the last move.
    private let last = Atomic(0)
    private let log = Mutex(Log())

    var number: Int { last.load(ordering: .relaxed) }

    func note(_ move: Move) {
        log.withLock { log in
            if log.moves.count >= Self.maxCount { log.moves.removeFirst(Self.maxCount / 2) }
            log.moves.append((last.wrappingAdd(1, ordering: .relaxed).newValue, move))
        }
    }

    /// Notes that a transaction begins.
    func begin() { log.withLock { $0.start = number } }

    /// Forgets what a transaction has done that is not kept.
    func cancel() { log.withLock { log in log.moves.removeAll { $0.number > log.start } } }

    /// Where something is now that was in a place when a move was the last one; nil if it is gone.
    func place(of address: FieldAddress, since number: Int) -> FieldAddress? {
        log.withLock { log in
            var place = address
            let first = log.moves.countOfFirst { $0.number <= number }
            for (_, move) in log.moves[first...] {
                guard let next = move.place(of: place) else { return nil }
                place = next
            }
            return place
        }
    }
}

extension EmbeddedMoves.Move {
    /// Where something is after the move; nil if it is gone.
    fileprivate func place(of address: FieldAddress) -> FieldAddress? {
        switch self {
        case .replaced(let place): address.isWithin(place) ? nil : address
        case .cleared(let collection): address.isWithin(collection) && address != collection ? nil : address
        case .inserted(let list, let position):
            address.moved(in: list) { $0 >= position ? $0 + 1 : $0 }
        case .removed(let list, let position):
            address.moved(in: list) { $0 == position ? nil : $0 > position ? $0 - 1 : $0 }
        case .moved(let list, let from, let to):
            address.moved(in: list) { index in
                if index == from { return to }
                let without = index > from ? index - 1 : index
                return without >= to ? without + 1 : without
            }
        case .swapped(let list, let first, let second):
            address.moved(in: list) { $0 == first ? second : $0 == second ? first : $0 }
        }
    }
}

extension FieldAddress {
    fileprivate func isWithin(_ other: FieldAddress) -> Bool {
        object == other.object && field == other.field && path.starts(with: other.path)
    }

    /// The address with another position in a list that it leads through; nil if there is none.
    fileprivate func moved(in list: FieldAddress, _ position: (Int) -> Int?) -> FieldAddress? {
        let depth = list.path.count
        guard path.count > depth, isWithin(list), case .index(let index) = path[depth] else { return self }
        guard let new = position(index) else { return nil }
        var moved = self
        moved.path[depth] = .index(new)
        return moved
    }

    /// A place that nothing ever is in.
    var gone: FieldAddress { appending(.key("")).appending(.key("")) }
}

extension _Field {
    /// Notes what is about to happen to embedded objects in the place.
    func noteEmbedded(_ move: @autoclosure () -> EmbeddedMoves.Move) {
        guard property?.shape.target is EmbeddedObject.Type else { return }
        instance.view?.moves.note(move())
    }
}
