/// One step of a path: a list index or the symbol of a key. An index never equals a key.
struct PathStep: Equatable {
    var value: UInt32
    var isIndex: Bool
}

/// The steps of all containers of one merge, one after another, and the path predicates over them (section 2).
///
/// Steps change only in place and paths never change their length, so an operation's range stays valid.
struct PathSteps {
    private var steps: [PathStep] = []

    var count: Int { steps.count }

    mutating func append(_ step: PathStep) { steps.append(step) }

    /// Step `level` of the operation's path.
    func step(_ level: UInt32, of operation: Operation) -> PathStep {
        if level &+ 1 == operation.depth {
            return PathStep(value: operation.last, isIndex: operation.endsInIndex)
        }
        return steps[Int(operation.container &+ level)]
    }

    /// Puts another index into a step of the container.
    mutating func setIndex(_ index: UInt32, atContainerStep level: UInt32, of operation: Operation) {
        steps[Int(operation.container &+ level)].value = index
    }

    /// sameObject and the same field.
    static func sameField(_ a: Operation, _ b: Operation) -> Bool { a.object == b.object && a.field == b.field }

    /// Whether the first `count` steps of both paths agree, all of them container steps.
    private func containersAgree(_ a: Operation, _ b: Operation, count: UInt32) -> Bool {
        var level: UInt32 = 0
        while level < count {
            if steps[Int(a.container &+ level)] != steps[Int(b.container &+ level)] { return false }
            level &+= 1
        }
        return true
    }

    private static func sameLastStep(_ a: Operation, _ b: Operation) -> Bool {
        a.last == b.last && a.endsInIndex == b.endsInIndex
    }

    /// The predicates below take sameField for granted.

    /// Equal length, and all steps but the last equal.
    func sameContainer(_ a: Operation, _ b: Operation) -> Bool {
        guard a.depth == b.depth else { return false }
        return a.depth <= 1 || containersAgree(a, b, count: a.depth &- 1)
    }

    func samePath(_ a: Operation, _ b: Operation) -> Bool {
        guard a.depth == b.depth else { return false }
        return a.depth == 0 || (Self.sameLastStep(a, b) && sameContainer(a, b))
    }

    /// If the outer path is the start of the inner one, the inner's next step. The outer path is the shorter one.
    func stepBelow(_ outer: Operation, in inner: Operation) -> PathStep? {
        guard outer.depth > 0 else { return step(0, of: inner) }
        let lastLevel = outer.depth &- 1
        guard step(lastLevel, of: inner) == step(lastLevel, of: outer),
            containersAgree(outer, inner, count: lastLevel)
        else { return nil }
        return step(outer.depth, of: inner)
    }

    /// If both paths go through the outer's container, the inner's step where the outer has its last. The outer path is
    /// the shorter one and not empty, so that step belongs to the inner's container.
    func stepBeside(_ outer: Operation, in inner: Operation) -> PathStep? {
        guard outer.depth > 0, containersAgree(outer, inner, count: outer.depth &- 1) else { return nil }
        return step(outer.depth &- 1, of: inner)
    }
}
