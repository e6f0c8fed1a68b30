import RealmState

/// A condition taken apart into its text, with a mark for each constant, and the constants. Conditions that differ differ in one of these.
struct ConditionShape {
    let text: String
    /// The constants in the order of the marks; a list for the members of a list, however many they are.
    let constants: [Value]

    init(_ condition: Condition, schema: QuerySchema? = nil) {
        let collector = ConstantCollector()
        text = CanonicalText(schema: schema, collector: collector).text(condition, isNested: true)
        constants = collector.constants
    }

    /// An order that does not follow from how the query was written, so that operands of a chain can be brought into it.
    static func < (left: ConditionShape, right: ConditionShape) -> Bool {
        if left.text != right.text { return left.text < right.text }
        for (left, right) in zip(left.constants, right.constants) where left != right {
            let order = ValueOrder.total(left, right)
            if order != 0 { return order < 0 }
            // One number may be of several types, of which each makes another condition.
            let (leftText, rightText) = (String(describing: left), String(describing: right))
            if leftText != rightText { return leftText < rightText }
        }
        return false
    }
}

/// Takes the constants from a text that is being written.
final class ConstantCollector {
    private(set) var constants: [Value] = []

    func mark(_ value: Value) -> String {
        constants.append(value)
        if case .list = value { return "$.." }
        return "$"
    }
}
