import SeededRandom

/// Makes random conditions of which the checker has to accept each one.
struct QueryGenerator {
    var random: SeededGenerator

    /// - Parameter depth: how many operators and subqueries may stand within each other.
    mutating func predicate(depth: Int = 3) -> Predicate {
        guard depth > 0 else { return comparison(depth: 0) }
        switch random.below(10) {
        case 0, 1: return .all((0..<(2 + random.below(2))).map { _ in predicate(depth: depth - 1) })
        case 2, 3: return .any((0..<(2 + random.below(2))).map { _ in predicate(depth: depth - 1) })
        case 4: return .not(predicate(depth: depth - 1))
        case 5 where random.chance(20): return .always(random.chance(50))
        default: return comparison(depth: depth)
        }
    }

    mutating func comparison(depth: Int) -> Predicate {
        switch random.below(depth > 0 ? 14 : 12) {
        case 0: return between()
        case 1: return count()
        case 2: return aggregate()
        case 3: return links()
        case 12, 13:
            return .comparison(.subquery(predicate(depth: depth - 1)), order(), .constant(.int(Int64(random.below(4)))))
        default: return values()
        }
    }

    /// A property, of the task itself or over links, of any of some kinds.
    mutating func path(_ kinds: [Kind]? = nil, hops: [[Hop]] = [[], [], [], [.parent], [.subtasks]]) -> Path {
        let field = random.pick(Field.all.filter { kinds?.contains($0.kind) ?? true })
        return quantified(Path(hops: random.pick(hops), field: field))
    }

    /// A constant to compare with properties of a kind.
    mutating func constant(_ kind: Kind, isSmall: Bool = false) -> Scalar {
        switch kind {
        case .int where random.chance(20): random.scalar(.double, isSmall: isSmall)
        case .double where random.chance(5), .float where random.chance(5): .real(.nan)
        case .double where random.chance(30), .float where random.chance(30), .decimal where random.chance(30):
            random.scalar(.int, isSmall: isSmall)
        default: random.scalar(kind, isSmall: isSmall)
        }
    }

    mutating func order() -> Operator { random.pick(Operator.orders + [.equal, .notEqual]) }

    private mutating func quantified(_ path: Path) -> Path {
        var path = path
        if path.isMulti, random.chance(60) { path.quantifier = quantifier() }
        return path
    }

    private mutating func quantifier() -> Quantifier { random.pick([.any, .all, .no]) }

    /// A property beside a constant, a list or another property.
    private mutating func values() -> Predicate {
        let left = path()
        guard let field = left.field else { return .always(true) }
        let right: Operand
        var ops = Operator.orders + [.equal, .equal, .notEqual, .notEqual]
        if field.kind == .string { ops += Operator.texts + Operator.texts }
        switch random.below(9) {
        case 0, 1, 2:
            let elements = (0..<random.below(4)).map { _ in
                random.chance(10) && !(field.kind == .double || field.kind == .float)
                    ? .null : constant(field.kind, isSmall: true)
            }
            right = .list(elements, random.chance(40) ? quantifier() : nil)
            ops += [.member, .member, .member]
        case 3, 4:
            var other = path(comparable(with: field.kind))
            // Two collections are not compared.
            if field.isList { while other.field?.isList == true { other = path(comparable(with: field.kind)) } }
            if other.isMulti { ops += [.member, .member] }
            right = .path(other)
        default: right = .constant(random.chance(15) ? .null : constant(field.kind))
        }
        let op = random.pick(ops)
        let ignoresCase = field.kind == .string && !Operator.orders.contains(op) && random.chance(35)
        if case .constant = right {
            if op == .like, random.chance(60) {
                return .comparison(.path(left), op, .constant(.string(random.pattern())), ignoresCase: ignoresCase)
            }
            if random.chance(20) { return .comparison(right, op, .path(left), ignoresCase: ignoresCase) }
        }
        return .comparison(.path(left), op, right, ignoresCase: ignoresCase)
    }

    private func comparable(with kind: Kind) -> [Kind] {
        switch kind {
        case .int: [.int, .double, .float, .decimal]
        // A decimal has fewer digits of a double than the largest ones here need.
        case .double, .float: [.int, .double, .float]
        case .decimal: [.int, .decimal]
        default: [kind]
        }
    }

    private mutating func between() -> Predicate {
        var path = path([.int, .double, .float, .decimal, .string, .date])
        if path.field?.isList == true { path.quantifier = .all }
        let kind = path.field?.kind ?? .int
        return .between(path, constant(kind), constant(kind))
    }

    private mutating func count() -> Predicate {
        var path: Path
        if random.chance(50) {
            path = Path(hops: random.pick([[.parent], [.subtasks], [.parent, .subtasks], [.subtasks, .parent]]))
        } else {
            repeat { path = self.path() } while path.field?.isList != true && path.field?.kind != .string
            path.quantifier = nil
        }
        return .comparison(.count(path), order(), .constant(.int(Int64(random.below(4)))))
    }

    private mutating func aggregate() -> Predicate {
        var function = random.pick(Function.allCases)
        var field = random.pick(Field.all.filter { $0.kind.isNumeric || $0.kind == .date })
        if field.kind == .date { function = random.pick([.min, .max]) }
        // The division of decimals is another one than that of doubles.
        if field.kind == .decimal, function == .avg { function = .sum }
        let hops: [Hop] = field.isList ? random.pick([[], [.parent]]) : [.subtasks]
        let side = Operand.aggregate(hops, function, field)
        if function == .avg { field.kind = .double }
        return .comparison(side, order(), .constant(random.chance(15) ? .null : constant(field.kind)))
    }

    /// Links beside null, objects and other links.
    private mutating func links() -> Predicate {
        let left = quantified(
            Path(hops: random.pick([[.parent], [.subtasks], [.parent, .parent], [.subtasks, .parent]])))
        let op = random.pick([Operator.equal, .notEqual])
        let key = Scalar.link(Int64(random.below(12)))
        switch random.below(4) {
        case 0 where !left.isMulti: return .comparison(.path(left), op, .constant(.null))
        case 1 where !left.isMulti:
            return .comparison(.path(left), random.pick([op, .member]), .list([key, random.pick([.null, .link(3)])]))
        case 2:
            return .comparison(
                .path(Path(hops: [.parent])), random.pick([.member, .equal, .notEqual]), .path(Path(hops: [.subtasks])))
        default: return .comparison(.path(left), op, .constant(key))
        }
    }
}
