/// How two sequences differ, as positions. What has moved was deleted and inserted.
struct PositionDifference {
    /// Positions in the old sequence, ascending.
    private(set) var deletions: [Int] = []
    /// Positions in the new sequence, ascending, as those of modifications are.
    private(set) var insertions: [Int] = []
    private(set) var modifications: [Int] = []

    init(deletions: [Int], insertions: [Int], modifications: [Int]) {
        self.deletions = deletions
        self.insertions = insertions
        self.modifications = modifications
    }

    var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

    /// - Parameters:
    ///   - replaces: whether an element that comes in the place of another is that one, changed.
    ///   - isModified: whether an element that is in both sequences has changed.
    init<Element: Hashable>(
        from old: [Element], to new: [Element], replaces: (Element) -> Bool = { _ in false },
        isModified: (Element) -> Bool
    ) {
        // What is alike at both ends stays: a change of a list of equal elements is found where it was made.
        let shorter = min(old.count, new.count)
        let head = (0..<shorter).first { old[$0] != new[$0] } ?? shorter
        let tail = (0..<(shorter - head)).first { old[old.count - 1 - $0] != new[new.count - 1 - $0] } ?? shorter - head
        let stayed = Array(0..<head) + Array((new.count - tail)..<new.count)
        modifications = stayed.filter { isModified(new[$0]) }
        compare(old, head..<(old.count - tail), new, head..<(new.count - tail), replaces, isModified)
        deletions.sort()
        insertions.sort()
        modifications.sort()
    }

    /// Compares what is not alike.
    private mutating func compare<Element: Hashable>(
        _ old: [Element], _ oldRange: Range<Int>, _ new: [Element], _ newRange: Range<Int>,
        _ replaces: (Element) -> Bool, _ isModified: (Element) -> Bool
    ) {
        let oldPositions = Dictionary(
            zip(Occurrence.numbered(old[oldRange]), oldRange), uniquingKeysWith: { first, _ in first })
        var common: [(old: Int, new: Int)] = []
        for (element, position) in zip(Occurrence.numbered(new[newRange]), newRange) {
            if let old = oldPositions[element] { common.append((old, position)) }
        }
        let rise = Self.longestRise(common.map(\.old))
        let staying = common.indices.filter { rise.contains($0) }.map { common[$0] }
        let moved = common.indices.filter { !rise.contains($0) }.map { common[$0] }
        for place in staying where isModified(new[place.new]) { modifications.append(place.new) }
        deletions += moved.map(\.old)
        insertions += moved.map(\.new)
        let (oldCommon, newCommon) = (Set(common.map(\.old)), Set(common.map(\.new)))
        // What has gone and what has come between two elements that stay.
        var (oldStart, newStart) = (oldRange.lowerBound, newRange.lowerBound)
        for end in staying + [(oldRange.upperBound, newRange.upperBound)] {
            let gone = (oldStart..<end.old).filter { !oldCommon.contains($0) }
            let come = (newStart..<end.new).filter { !newCommon.contains($0) }
            let pairs = zip(gone, come).prefix { replaces(old[$0.0]) && replaces(new[$0.1]) }.count
            modifications += come.prefix(pairs)
            deletions += gone.dropFirst(pairs)
            insertions += come.dropFirst(pairs)
            (oldStart, newStart) = (end.old + 1, end.new + 1)
        }
    }

    /// The first, the second ... of equal elements.
    private struct Occurrence<Element: Hashable>: Hashable {
        var element: Element
        var number: Int

        static func numbered(_ elements: ArraySlice<Element>) -> [Occurrence] {
            var counts: [Element: Int] = [:]
            return elements.map { element in
                defer { counts[element, default: 0] += 1 }
                return Occurrence(element: element, number: counts[element] ?? 0)
            }
        }
    }

    /// The indexes of a longest rising subsequence: the elements that need not be reported as moved.
    private static func longestRise(_ numbers: [Int]) -> Set<Int> {
        /// The smallest end that rises of each length have, as the index of that end.
        var ends: [Int] = []
        var previous = [Int?](repeating: nil, count: numbers.count)
        for (index, number) in numbers.enumerated() {
            let length = ends.countOfFirst { numbers[$0] < number }
            previous[index] = length > 0 ? ends[length - 1] : nil
            if length == ends.count { ends.append(index) } else { ends[length] = index }
        }
        var result: Set<Int> = []
        var next = ends.last
        while let index = next {
            result.insert(index)
            next = previous[index]
        }
        return result
    }
}

extension Array {
    /// How many elements satisfy the predicate, which all of them do up to some place and none after.
    func countOfFirst(where isBefore: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
