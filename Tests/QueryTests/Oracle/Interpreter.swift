/// Says which tasks a condition selects, in the most direct way: each rule of the query language as it is described, for one task,
/// anew each time. Shares nothing with what it checks.
struct Interpreter {
    let realm: RandomRealm

    func selects(_ predicate: Predicate, _ task: RandomTask) -> Bool {
        switch predicate {
        case .always(let value): value
        case .all(let parts): parts.allSatisfy { selects($0, task) }
        case .any(let parts): parts.contains { selects($0, task) }
        case .not(let part): !selects(part, task)
        case .comparison(let left, let op, let right, let ignoresCase):
            selects(left, op, right, ignoresCase, task)
        case .between(let path, let low, let high):
            selects(.path(path), .greaterOrEqual, .constant(low), false, task)
                && selects(.path(path), .lessOrEqual, .constant(high), false, task)
        }
    }

    private func selects(
        _ left: Operand, _ op: Operator, _ right: Operand, _ ignoresCase: Bool, _ task: RandomTask
    ) -> Bool {
        if case .path(let path) = left, path.hops.isEmpty, let field = path.field, !field.isList {
            let value = task.values(of: field)[0]
            switch right {
            case .constant(let constant):
                if let result = value.directly(op, constant, field.kind, ignoresCase: ignoresCase) { return result }
            case .list(let elements, let quantifier) where quantifier ?? .any == .any && !elements.isEmpty:
                guard op == .equal || op == .member else { break }
                // A set of values of the property's own type. [c] does not count here, as the recordings have it.
                return elements.contains { $0.isUsable(for: field) && value.isMember($0) }
            default: break
            }
        }
        let rights = offers(right, task)
        return offers(left, task).contains { left in
            rights.contains { right in
                if left.quantifier == nil, right.quantifier == nil, left.isList, right.isList {
                    guard left.values.count == right.values.count else { return op == .notEqual }
                    return zip(left.values, right.values).allSatisfy { $0.compared(op, $1, ignoresCase: ignoresCase) }
                }
                return left.holds { left in right.holds { left.compared(op, $0, ignoresCase: ignoresCase) } }
            }
        }
    }

    /// What a side has for one task: several offers of which any will do, each a value or a list.
    private func offers(_ operand: Operand, _ task: RandomTask) -> [Offer] {
        switch operand {
        case .constant(let value): return [Offer(value)]
        case .list(let values, let quantifier): return [Offer(values: values, isList: true, quantifier: quantifier)]
        case .path(let path):
            let ends = tasks(over: path.hops, from: task)
            guard let field = path.field else {
                return [Offer(ends.map { .link($0.key) }, of: path)]
            }
            guard field.isList else { return [Offer(ends.map { $0.values(of: field)[0] }, of: path)] }
            let lists = ends.isEmpty ? [[]] : ends.map { $0.values(of: field) }
            return lists.map { Offer(values: $0, isList: true, quantifier: path.quantifier) }
        case .count(let path): return [count(path, task)]
        case .aggregate(let hops, let function, let field):
            let values = tasks(over: hops, from: task).flatMap { $0.values(of: field) }
            return [Offer(function.applied(to: values, field.kind))]
        case .subquery(let predicate):
            return [Offer(.int(Int64(tasks(over: [.subtasks], from: task).count { selects(predicate, $0) })))]
        }
    }

    private func count(_ path: Path, _ task: RandomTask) -> Offer {
        let ends = tasks(over: path.field == nil ? path.hops.dropLast() : path.hops, from: task)
        guard let field = path.field else {
            let counts = ends.map { Scalar.int(Int64(tasks(over: path.hops.suffix(1), from: $0).count)) }
            return Offer(values: counts, isList: path.hops.count > 1)
        }
        let counts = ends.map { end -> Scalar in
            if field.isList { return .int(Int64(end.values(of: field).count)) }
            guard case .string(let text) = end.values(of: field)[0] else { return .null }
            return .int(Int64(text.utf8.count))
        }
        if path.hops.contains(.subtasks) { return Offer(values: counts, isList: true) }
        return Offer(counts.first ?? (field.isList ? .int(0) : .null))
    }

    private func tasks(over hops: [Hop], from task: RandomTask) -> [RandomTask] {
        hops.reduce([task]) { tasks, hop in
            tasks.flatMap { hop == .parent ? $0.parent.map { [$0] } ?? [] : $0.subtasks }.map { realm.tasks[Int($0)] }
        }
    }
}

/// A value or list that a side of a comparison offers.
private struct Offer {
    var values: [Scalar]
    var isList: Bool
    var quantifier: Quantifier?

    init(values: [Scalar], isList: Bool, quantifier: Quantifier? = nil) {
        self.values = values
        self.isList = isList
        self.quantifier = quantifier
    }

    init(_ value: Scalar) { self.init(values: [value], isList: false) }

    /// One value for each object at the end of a path; null where a single link leads nowhere.
    init(_ values: [Scalar], of path: Path) {
        let isList = path.hops.contains(.subtasks)
        self.init(values: isList || !values.isEmpty ? values : [.null], isList: isList, quantifier: path.quantifier)
    }

    func holds(_ test: (Scalar) -> Bool) -> Bool {
        switch quantifier ?? .any {
        case .any: values.contains(where: test)
        case .all: values.allSatisfy(test)
        case .no: !values.contains(where: test)
        }
    }
}
