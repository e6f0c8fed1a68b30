import Changesets

/// The rules that pairs of concurrent instructions meet (docs/merge.md, "The matrix").
///
/// Every pair that is not named here passes unchanged. The rules look at kinds, paths, values and rank, never at which
/// side is ours: `merge(a, b)` and `merge(b, a)` change a and b in the same way.
struct RuleMatrix {
    let compatibility: PeerCompatibility

    init(_ compatibility: PeerCompatibility) { self.compatibility = compatibility }

    /// Merges one local with one incoming instruction, both live.
    ///
    /// - Returns: whether the side that erases a class has to erase the other's new column first (rule 5.4).
    func merge(
        _ local: inout Operation, _ incoming: inout Operation, _ steps: inout PathSteps
    ) throws(RuleViolation) -> Bool {
        guard local.code.hasPath, incoming.code.hasPath else {
            return try mergeSchemaOrObject(&local, &incoming)
        }
        guard PathSteps.sameField(local, incoming) else { return false }

        let localBefore = local.adjustable
        let incomingBefore = incoming.adjustable
        if local.depth == incoming.depth {
            try mergeEqualLengths(&local, &incoming, steps)
        } else if local.depth < incoming.depth {
            try NestedRules(compatibility).apply(outer: &local, inner: &incoming, &steps)
        } else {
            try NestedRules(compatibility).apply(outer: &incoming, inner: &local, &steps)
        }
        if local.adjustable != localBefore { local.flags.insert(.changed) }
        if incoming.adjustable != incomingBefore { incoming.flags.insert(.changed) }
        return false
    }

    private func mergeEqualLengths(
        _ local: inout Operation, _ incoming: inout Operation, _ steps: PathSteps
    ) throws(RuleViolation) {
        if local.code.rawValue >= incoming.code.rawValue {
            try mergePaths(&local, &incoming, steps)
        } else {
            try mergePaths(&incoming, &local, steps)
        }
    }

    /// The lower right of the matrix: rows 4, 5 and 8 to 13. The left side has the higher code.
    private func mergePaths(
        _ left: inout Operation, _ right: inout Operation, _ steps: PathSteps
    ) throws(RuleViolation) {
        switch (left.code, right.code) {
        case (.update, .update):
            if steps.samePath(left, right) { try UpdateRules.update(&left, update: &right) }
        case (.addInteger, .update):
            if steps.samePath(left, right) { UpdateRules.addInteger(&left, update: &right) }

        case (.arrayInsert, .update), (.arrayMove, .update), (.arrayErase, .update),
            (.arrayInsert, .arrayInsert), (.arrayMove, .arrayInsert), (.arrayMove, .arrayMove),
            (.arrayErase, .arrayInsert), (.arrayErase, .arrayMove), (.arrayErase, .arrayErase):
            if steps.sameContainer(left, right) { try ListRules.merge(&left, &right) }

        case (.clear, .arrayInsert), (.clear, .arrayMove), (.clear, .arrayErase):
            if compatibility.clearsFollowTheirElement, steps.sameContainer(left, right) {
                SetAndClearRules.clear(&left, listOperation: right)
            }
        case (.clear, .update):
            if steps.samePath(left, right) {
                try SetAndClearRules.clear(&left, update: &right, rejectsSets: compatibility.rejectsSetMarkers)
            }
        case (.clear, .addInteger):
            if steps.samePath(left, right) { SetAndClearRules.clear(&left, addInteger: &right) }
        case (.clear, .clear):
            if steps.samePath(left, right) { SetAndClearRules.clear(&left, clear: &right) }
        case (.setInsert, .clear), (.setErase, .clear):
            if steps.samePath(left, right) { SetAndClearRules.setOperation(&left, clear: &right) }
        case (.setInsert, .setInsert), (.setErase, .setInsert), (.setErase, .setErase):
            if steps.samePath(left, right) {
                SetAndClearRules.setOperation(
                    &left, setOperation: &right, byContent: compatibility.comparesErasedValuesByContent)
            }
        default:
            break
        }
    }

    /// Everything with at least one instruction that has no path: rows 0 to 3, 6 and 7, and their nested rules.
    private func mergeSchemaOrObject(
        _ local: inout Operation, _ incoming: inout Operation
    ) throws(RuleViolation) -> Bool {
        if local.code.rawValue >= incoming.code.rawValue {
            try mergeSchemaOrObject(left: &local, right: &incoming)
        } else {
            try mergeSchemaOrObject(left: &incoming, right: &local)
        }
    }

    private func mergeSchemaOrObject(
        left: inout Operation, right: inout Operation
    ) throws(RuleViolation) -> Bool {
        // EraseTable's path is the shortest, so its nested rule comes before any other, but for its equals.
        if right.code == .eraseTable, left.code != .eraseTable {
            NestedRules.eraseTable(right, inner: &left)
            if left.code == .addColumn, left.isLive {
                return SchemaRules.addColumn(&left, eraseTableOfTarget: right)
            }
            return false
        }
        switch (left.code, right.code) {
        case (.addTable, .addTable): try SchemaRules.addTable(&left, addTable: &right)
        case (.eraseTable, .addTable): SchemaRules.eraseTable(left, addTable: &right)
        case (.eraseTable, .eraseTable): SchemaRules.eraseTable(&left, eraseTable: &right)
        case (.addColumn, .addColumn): try SchemaRules.addColumn(&left, addColumn: &right)
        case (.eraseColumn, .addColumn): SchemaRules.eraseColumn(left, addColumn: &right)
        case (.eraseColumn, .eraseColumn): SchemaRules.eraseColumn(&left, eraseColumn: &right)
        case (.eraseColumn, _) where right.code.hasPath: eraseColumn(left, change: &right)
        case (_, .eraseColumn) where left.code.hasPath: eraseColumn(right, change: &left)
        case (.eraseObject, .createObject): ObjectRules.eraseObject(left, createObject: &right)
        case (.eraseObject, .eraseObject): ObjectRules.eraseObject(&left, eraseObject: &right)
        case (_, .eraseObject) where left.code.hasPath: NestedRules.eraseObject(right, inner: &left)
        default: break
        }
        return false
    }

    private func eraseColumn(_ erase: Operation, change: inout Operation) {
        if change.code == .update || compatibility.erasedColumnDiscardsEveryChange {
            SchemaRules.eraseColumn(erase, change: &change)
        }
    }
}
