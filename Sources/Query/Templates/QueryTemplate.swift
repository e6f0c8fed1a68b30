package import Changesets
package import RealmState

/// A query with its constants taken out: what many clients' queries have in common.
///
/// `owner_id == "u1" and done == false` and the same with "u2" are one template with other constants. Whatever can be prepared
/// for a template is prepared once, however many sessions ask for it.
package struct QueryTemplate: Sendable, Hashable {
    package let className: ByteString
    /// The normal form's text, with a mark for each constant.
    package let shape: String
}

/// A property that has to have one of some values for a query to select an object.
package struct FieldEquality: Sendable, Hashable {
    package var property: QueryProperty
    /// Each once, in ascending order. An object's value is among them exactly if its bytes are.
    package var values: [Value]
}

/// A query in its normal form, and taken apart into template and constants.
///
/// Two are equal if template and constants are; they then select the same objects.
package struct NormalizedQuery: Sendable {
    package let condition: Condition
    package let template: QueryTemplate
    /// The constants in the order of the template's marks; a list for the members of a list, however many they are.
    package let constants: [Value]

    package init(_ query: ObjectQuery) {
        condition = query.condition.normalized()
        let shape = ConditionShape(condition, schema: query.schema)
        template = QueryTemplate(className: query.className, shape: shape.text)
        constants = shape.constants
    }

    /// The equalities that an object must fulfil, all of them, to be selected: properties of which one look into a table by value finds all queries
    /// of a template that an object concerns. Never of floating-point or decimal numbers or mixed properties, whose equality is
    /// not that of bytes.
    package var equalities: [FieldEquality] {
        let parts = if case .all(let parts) = condition { parts } else { [condition] }
        return parts.compactMap { part in
            guard case .member(let membership) = part, membership.isExact, let property = membership.path.ownProperty
            else {
                return nil
            }
            return FieldEquality(property: property, values: membership.values)
        }
    }

    /// The equality that is all that the query says; nil if it says more or something else.
    package var soleEquality: FieldEquality? {
        guard case .member = condition else { return nil }
        return equalities.first
    }
}

extension NormalizedQuery: Hashable {
    package static func == (left: NormalizedQuery, right: NormalizedQuery) -> Bool {
        left.template == right.template && left.constants == right.constants
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(template)
        hasher.combine(constants)
    }
}
