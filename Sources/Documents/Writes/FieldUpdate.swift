import Changesets
package import ExtendedJSON

/// The effect of an update on one field.
///
/// | operator | operand | instruction |
/// |---|---|---|
/// | `$set` | value | the narrowest that lead to it; none if the field reads so already |
/// | `$unset` | anything | null, an empty collection, or a dictionary's entry less |
/// | `$inc` | number | AddInteger for integers, so that increments add up; Update for others |
/// | `$mul` | number | Update; refused where the product is not exact |
/// | `$min`, `$max` | value | Update, if the value is less or greater |
/// | `$push` | value, or `{"$each": [...], "$position": n}` | ArrayInsert |
/// | `$addToSet` | value, or `{"$each": [...]}` | SetInsert; ArrayInsert for a list that lacks the value |
/// | `$pull` | value, or a condition such as `{"$lt": 5}` | ArrayErase, SetErase |
///
/// A null or missing number counts as not there: `$inc`, `$min` and `$max` set it to their operand, and `$mul` to zero.
package struct FieldUpdate: Hashable, Sendable {
    package enum Operator: Hashable, Sendable {
        case set(BSONValue)
        case unset
        case increment(BSONValue)
        case multiply(BSONValue)
        case min(BSONValue)
        case max(BSONValue)
        /// Inserts at an index, or at the end.
        case push([BSONValue], position: Int?)
        case addToSet([BSONValue])
        case pull(BSONValue)

        /// The operator as MongoDB calls it.
        var name: String {
            switch self {
            case .set: "$set"
            case .unset: "$unset"
            case .increment: "$inc"
            case .multiply: "$mul"
            case .min: "$min"
            case .max: "$max"
            case .push: "$push"
            case .addToSet: "$addToSet"
            case .pull: "$pull"
            }
        }
    }

    package var path: DocumentPath
    package var op: Operator
    /// Where the operand stands in its write; empty for an update that a program has made.
    package var place: JSONPlace

    package init(_ path: DocumentPath, _ op: Operator, at place: JSONPlace = .root) {
        self.path = path
        self.op = op
        self.place = place
    }

    /// Reads operators with their fields: `{"$set": {"a": 1}, "$inc": {"b.c": 2}}`.
    ///
    /// - Throws: `unsupportedOperator`, `invalidWrite` also for two that change the same, or `limit`.
    package static func all(
        _ operators: BSONDocument, _ limits: DocumentLimits = DocumentLimits()
    ) throws(DocumentError) -> [FieldUpdate] {
        guard !operators.isEmpty else { throw DocumentError(.invalidWrite, "expected operators, came none") }
        var updates: [FieldUpdate] = []
        for member in operators {
            try at(.key(member.key)) { () throws(DocumentError) in
                guard let name = Name(rawValue: member.key.string) else {
                    let names = Name.allCases.map(\.rawValue).joined(separator: ", ")
                    throw DocumentError(
                        .unsupportedOperator,
                        "\(member.key.string.shortened) is not supported, expected one of \(names)")
                }
                guard case .document(let fields) = member.value else {
                    throw DocumentError(
                        .invalidWrite, "expected an object with fields, came \(member.value.typeName)")
                }
                for field in fields {
                    try at(.key(field.key)) { () throws(DocumentError) in
                        let path = try DocumentPath(field.key, maxElements: limits.pathElements)
                        let place = JSONPlace([.key(member.key), .key(field.key)])
                        updates.append(FieldUpdate(path, try name.op(field.value), at: place))
                    }
                }
            }
        }
        guard updates.count <= limits.terms else {
            throw DocumentError(.limit, "expected at most \(limits.terms) fields, came \(updates.count)")
        }
        try checkOverlaps(updates)
        return updates
    }

    private static func checkOverlaps(_ updates: [FieldUpdate]) throws(DocumentError) {
        // A path stands right before the first of those that it leads into.
        let sorted = updates.sorted { $0.path.elements.lexicographicallyPrecedes($1.path.elements) }
        for (left, right) in zip(sorted, sorted.dropFirst()) where left.path.overlaps(right.path) {
            throw DocumentError(
                .invalidWrite, "expected changes apart from each other, came \(left.path) and \(right.path)",
                at: right.place)
        }
    }

    private enum Name: String, CaseIterable {
        case set = "$set"
        case unset = "$unset"
        case increment = "$inc"
        case multiply = "$mul"
        case min = "$min"
        case max = "$max"
        case push = "$push"
        case addToSet = "$addToSet"
        case pull = "$pull"

        func op(_ operand: BSONValue) throws(DocumentError) -> Operator {
            switch self {
            case .set: return .set(operand)
            case .unset: return .unset
            case .increment: return .increment(operand)
            case .multiply: return .multiply(operand)
            case .min: return .min(operand)
            case .max: return .max(operand)
            case .push:
                var (values, modifiers) = try elements(operand)
                guard modifiers != nil else { return .push(values, position: nil) }
                var position: Int?
                if let given = modifiers?["$position"] {
                    guard let index = given.integer, index >= 0, let index = Int(exactly: index) else {
                        throw DocumentError(
                            .invalidWrite, "expected an index from 0 on, came \(given.typeName)",
                            at: .root.key("$position"))
                    }
                    position = index
                    modifiers?["$position"] = nil
                }
                try checkNone(modifiers)
                return .push(values, position: position)
            case .addToSet:
                let (values, modifiers) = try elements(operand)
                try checkNone(modifiers)
                return .addToSet(values)
            case .pull: return .pull(operand)
            }
        }

        /// The values of `$each` and what stands beside it, or the one value.
        private func elements(_ operand: BSONValue) throws(DocumentError) -> ([BSONValue], BSONDocument?) {
            guard case .document(var modifiers) = operand,
                modifiers.members.first?.key.first == UInt8(ascii: "$"),
                modifiers["$ref"] == nil
            else { return ([operand], nil) }
            guard let each = modifiers["$each"] else {
                throw DocumentError(
                    .unsupportedOperator, "expected $each, came \(modifiers.members[0].key.string.shortened)")
            }
            guard case .array(let values) = each else {
                throw DocumentError(.invalidWrite, "expected an array, came \(each.typeName)", at: .root.key("$each"))
            }
            modifiers["$each"] = nil
            return (values, modifiers)
        }

        private func checkNone(_ modifiers: BSONDocument?) throws(DocumentError) {
            guard let other = modifiers?.members.first else { return }
            throw DocumentError(
                .unsupportedOperator, "\(other.key.string.shortened) is not supported beside $each in \(rawValue)")
        }
    }
}
