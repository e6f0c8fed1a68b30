/// The local operations by object, made once: where many short runs go over one long history, each then goes through the
/// operations on its own objects only.
struct LocalIndex {
    /// All positions, those of one object together and in order; where each object's begin, by its number. The first ones
    /// are without an object: they concern the schema.
    private var positions: [UInt32]
    private var starts: [Int]

    init(_ operations: ArraySlice<Operation>) {
        let objects = operations.reduce(0) { max($0, Int($1.object.number)) } + 1
        starts = Array(repeating: 0, count: objects + 1)
        for operation in operations { starts[Int(operation.object.number) + 1] += 1 }
        for object in 0..<objects { starts[object + 1] += starts[object] }
        positions = Array(repeating: 0, count: operations.count)
        var next = starts
        for position in operations.indices {
            let operation = operations[position]
            let object = Int(operation.object.number)
            positions[next[object]] = UInt32(truncatingIfNeeded: position)
            next[object] += 1
        }
    }

    /// The positions of a window that concern these objects or the schema, in order.
    func positions(of objects: Set<ObjectNumber>, in window: Range<Int>) -> [UInt32] {
        var found: [UInt32] = []
        for object in objects.union([.none]) where Int(object.number) + 1 < starts.count {
            let all = positions[starts[Int(object.number)]..<starts[Int(object.number) + 1]]
            found += all[firstIndex(from: window.lowerBound, in: all)..<firstIndex(from: window.upperBound, in: all)]
        }
        found.sort()
        return found
    }

    private func firstIndex(from position: Int, in all: ArraySlice<UInt32>) -> Int {
        var (low, high) = (all.startIndex, all.endIndex)
        while low < high {
            let middle = (low + high) / 2
            if Int(all[middle]) < position { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
