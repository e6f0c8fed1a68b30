/// Both sides' operations while lists are merged by themselves, for what takes more than shifting indexes.
struct ListSides {
    var local: [Operation] = []
    var incoming: [Operation] = []
    var steps = PathSteps()

    /// Has the rules merge what both sides do to one element or inside of it.
    mutating func meet(
        _ mine: inout ListOperation, _ other: inout ListOperation, level: UInt32, _ matrix: RuleMatrix
    ) throws(MergeError) {
        Self.name(&local[Int(mine.position)], mine.index, at: level, &steps)
        Self.name(&incoming[Int(other.position)], mine.index, at: level, &steps)
        do throws(RuleViolation) {
            _ = try matrix.merge(&local[Int(mine.position)], &incoming[Int(other.position)], &steps)
        } catch {
            throw MergeError(code: error.code, message: error.message)
        }
        if !local[Int(mine.position)].isLive { mine.discard() }
        if !incoming[Int(other.position)].isLive { other.discard() }
    }

    /// Puts a number in place of the index into the list by which equal elements are equal; sizes are of no concern then.
    static func name(_ operation: inout Operation, _ element: UInt32, at level: UInt32, _ steps: inout PathSteps) {
        operation.setIndex(element, at: level, &steps)
        if operation.depth == level &+ 1, operation.code == .update { operation.priorSize = .max }
    }
}
