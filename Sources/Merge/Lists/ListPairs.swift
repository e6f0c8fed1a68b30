/// Merges two stretches of one list's operations, each operation with each: rule 8.2 over nothing but the numbers that it
/// changes, which takes a thirtieth of what it takes to find and dispatch every pair.
///
/// Sizes and indexes are known to fit: each side's operations follow from each other and from one first size (`ListGrid`).
/// What both sides do to one element or inside of it, but for shifting it, is left to the rules.
struct ListPairs {
    let level: UInt32
    let matrix: RuleMatrix

    /// - Parameters:
    ///   - rows: local ones, merged in their order, each with all of `columns`.
    ///   - columns: incoming ones, live, in their order. Some may be gone afterwards.
    func merge(
        _ rows: inout ArraySlice<ListOperation>, _ columns: inout [ListOperation], _ operations: inout ListSides,
        _ meter: MergeMeter
    ) throws(MergeError) {
        var gone = 0
        var start = 0
        for row in rows.indices where rows[row].isLive {
            var local = rows[row]
            var first = start
            while first < columns.count, local.isLive {
                let next = Self.shift(&local, &columns, from: first, &gone)
                try meter.take(next - first + 1)
                guard local.isLive, next < columns.count else { break }
                try meter.take(MergeMeter.stepsPerMeeting)
                try operations.meet(&local, &columns[next], level: level, matrix)
                if !columns[next].isLive { gone += 1 }
                first = next + 1
            }
            rows[row] = local
            while start < columns.count, !columns[start].isLive { start += 1 }
            if gone > 64 + columns.count / 16 {
                columns.removeAll { !$0.isLive }
                (gone, start) = (0, 0)
            }
        }
        columns.removeAll { !$0.isLive }
    }

    /// Goes through the columns until the row is discarded, or until both concern one element in a way that the rules have to
    /// look at.
    ///
    /// - Parameter gone: how many of the columns have been discarded.
    /// - Returns: the column where it ended, or how many there are.
    private static func shift(
        _ local: inout ListOperation, _ columns: inout [ListOperation], from first: Int, _ gone: inout Int
    ) -> Int {
        columns.withUnsafeMutableBufferPointer { columns in
            switch local.kind {
            case .insert: insert(&local, columns, from: first)
            case .move: move(&local, columns, from: first, &gone)
            case .erase: erase(&local, columns, from: first, &gone)
            case .assign, .inside: change(&local, columns, from: first)
            case .clear: clear(&local, columns, from: first, &gone)
            }
        }
    }

    private typealias Columns = UnsafeMutableBufferPointer<ListOperation>

    private static func insert(_ local: inout ListOperation, _ columns: Columns, from first: Int) -> Int {
        for column in first..<columns.count where columns[column].isLive {
            switch columns[column].kind {
            case .insert: ListShifts.insert(&local, insert: &columns[column])
            case .move: ListShifts.move(&columns[column], insert: &local)
            case .erase: ListShifts.erase(&columns[column], insert: &local)
            case .assign, .inside: ListShifts.insert(local, element: &columns[column])
            case .clear:
                local.isLive = false
                return column
            }
        }
        return columns.count
    }

    private static func move(
        _ local: inout ListOperation, _ columns: Columns, from first: Int, _ gone: inout Int
    ) -> Int {
        for column in first..<columns.count where columns[column].isLive {
            switch columns[column].kind {
            case .insert: ListShifts.move(&local, insert: &columns[column])
            case .move: ListShifts.move(&local, move: &columns[column])
            case .erase: ListShifts.erase(&columns[column], move: &local)
            case .assign, .inside: ListShifts.move(local, element: &columns[column])
            case .clear: local.discard()
            }
            if !columns[column].isLive { gone += 1 }
            if !local.isLive { return column }
        }
        return columns.count
    }

    private static func erase(
        _ local: inout ListOperation, _ columns: Columns, from first: Int, _ gone: inout Int
    ) -> Int {
        for column in first..<columns.count where columns[column].isLive {
            switch columns[column].kind {
            case .insert: ListShifts.erase(&local, insert: &columns[column])
            case .move: ListShifts.erase(&local, move: &columns[column])
            case .erase: ListShifts.erase(&local, erase: &columns[column])
            case .assign, .inside: ListShifts.erase(local, element: &columns[column])
            case .clear: local.discard()
            }
            if !columns[column].isLive { gone += 1 }
            if !local.isLive { return column }
        }
        return columns.count
    }

    private static func change(_ local: inout ListOperation, _ columns: Columns, from first: Int) -> Int {
        for column in first..<columns.count where columns[column].isLive {
            switch columns[column].kind {
            case .insert: ListShifts.insert(columns[column], element: &local)
            case .move: ListShifts.move(columns[column], element: &local)
            case .erase: ListShifts.erase(columns[column], element: &local)
            case .assign, .inside: if local.index == columns[column].index { return column }
            case .clear: local.discard()
            }
            if !local.isLive { return column }
        }
        return columns.count
    }

    /// Only the newest Clear is left, and discards all that the other side does.
    private static func clear(
        _ local: inout ListOperation, _ columns: Columns, from first: Int, _ gone: inout Int
    ) -> Int {
        for column in first..<columns.count where columns[column].isLive {
            if columns[column].kind == .clear, local.rank < columns[column].rank {
                local.isLive = false
                return column
            }
            columns[column].isLive = false
            gone += 1
        }
        return columns.count
    }
}
