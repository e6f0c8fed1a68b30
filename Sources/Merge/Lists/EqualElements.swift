/// What both sides do to the elements that both began with: erasures, assignments and changes inside, by the rules, each
/// with those of the other side about the same element.
///
/// While they meet, an element is called by its number, by which the index finds it, and not by its place in the list.
struct EqualElements {
    private let local: ListHistory
    private let incoming: ListHistory
    private let level: UInt32

    init(_ local: ListHistory, _ incoming: ListHistory, level: UInt32) {
        self.local = local
        self.incoming = incoming
        self.level = level
    }

    /// Discards what is to go, and changes what is inside of elements. Indexes into the list itself stay names.
    mutating func merge(
        _ sides: inout ListSides, _ matrix: RuleMatrix, _ meter: MergeMeter
    ) throws(MergeError) {
        let others = incoming.steps.filter(incoming.isAboutBase)
        guard !others.isEmpty, local.steps.contains(where: local.isAboutBase) else { return }
        var list = OperationList()
        list.reserve(others.count)
        for step in others { list.append(named(step, sides.incoming, &sides.steps)) }
        var index = ConflictIndex(
            list, sides.steps, followsErasures: false,
            comparesRawErasures: !matrix.compatibility.comparesErasedValuesByContent, elementLevel: level)
        var walk = ConflictWalk()
        for step in local.steps where local.isAboutBase(step) {
            var mine = named(step, sides.local, &sides.steps)
            index.start(&walk, for: mine, list, sides.steps)
            while mine.isLive, let met = index.next(&walk, list) {
                try meter.take(MergeMeter.stepsPerMeeting)
                do throws(RuleViolation) {
                    _ = try matrix.merge(&mine, &list.operations[met], &sides.steps)
                } catch {
                    throw MergeError(code: error.code, message: error.message)
                }
            }
            Self.take(mine, step, into: &sides.local)
        }
        for (step, other) in zip(others, list.operations) { Self.take(other, step, into: &sides.incoming) }
    }

    private func named(_ step: ListHistory.Step, _ operations: [Operation], _ steps: inout PathSteps) -> Operation {
        var operation = operations[Int(step.position)]
        operation.setIndex(step.element, at: level, &steps)
        if step.kind != .inside { operation.priorSize = .max }
        return operation
    }

    private static func take(_ merged: Operation, _ step: ListHistory.Step, into operations: inout [Operation]) {
        if step.kind == .inside {
            operations[Int(step.position)] = merged
        } else if !merged.isLive {
            operations[Int(step.position)].discard()
        }
    }
}

extension ListHistory {
    /// Whether it concerns an element that the other side may know.
    fileprivate func isAboutBase(_ step: Step) -> Bool { isBase(step.element) && step.kind != .insert }
}
