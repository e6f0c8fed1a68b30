import Changesets
package import ExtendedJSON

/// Why a write, a filter or a document is refused: what was expected, what came, and where.
package struct DocumentError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable, CaseIterable {
        /// The text is no Extended JSON.
        case syntax
        /// Larger, deeper or more than allowed.
        case limit
        /// A write, an operator or a filter with members that it does not have, or without one that it has to have.
        case invalidWrite = "invalid_write"
        /// An operator that is not supported, or not on such a property.
        case unsupportedOperator = "unsupported_operator"
        case unknownClass = "unknown_class"
        case unknownField = "unknown_field"
        /// A property that the user may not read.
        case unreadableField = "unreadable_field"
        /// Something that the user for whom it is written may not do.
        case forbidden
        /// Rules or the user have changed since it was decided what the user may do.
        case stale
        /// A value of another type than the property's.
        case wrongType = "wrong_type"
        /// A new object without a property that it has to have.
        case missingField = "missing_field"
        /// The primary key of an object that is there would change.
        case immutableKey = "immutable_key"
        /// An insertion under a primary key that is taken.
        case objectExists = "object_exists"
        /// An index behind the end of a list, or a number beyond what its type holds.
        case outOfRange = "out_of_range"
        /// The condition of `onlyIf` does not hold.
        case conflict
        /// A value that no copy of the realm could take, such as a dictionary's key with a dot.
        case invalidValue = "invalid_value"
        /// The state lacks an object that the caller had to load: a mistake in this program.
        case notLoaded = "not_loaded"
    }

    package var code: Code
    package var place: JSONPlace
    /// Words for what was expected and what came, without the place.
    package var message: String

    package init(_ code: Code, _ message: String, at place: JSONPlace = .root) {
        self.code = code
        self.message = message
        self.place = place
    }

    package init(_ error: ExtendedJSONError) {
        let text = error.message + (error.offset.map { " at byte \($0)" } ?? "")
        self.init(error.code == .limit ? .limit : .syntax, text, at: error.place)
    }

    /// The number of the write in its batch that is at fault; nil if it is none alone.
    package var write: Int? {
        guard case .key("writes")? = place.steps.first, place.steps.count > 1, case .index(let index) = place.steps[1]
        else { return nil }
        return index
    }

    /// The place and the message.
    package var description: String {
        let place = place.description
        return place.isEmpty ? message : "\(place): \(message)"
    }

    /// The same error of something that stands at a step of something else.
    func within(_ step: JSONPlace.Step) -> DocumentError {
        var error = self
        error.place = place.within(step)
        return error
    }

    func within(_ outer: JSONPlace) -> DocumentError {
        var error = self
        error.place = place.within(outer)
        return error
    }
}

/// Runs `body`, whose errors get the step as the beginning of their places.
func at<Result>(
    _ step: JSONPlace.Step, _ body: () throws(DocumentError) -> Result
) throws(DocumentError) -> Result {
    do throws(DocumentError) {
        return try body()
    } catch {
        throw error.within(step)
    }
}

/// Runs `body`, whose errors get the place before their own.
func at<Result>(
    _ place: JSONPlace, _ body: () throws(DocumentError) -> Result
) throws(DocumentError) -> Result {
    do throws(DocumentError) {
        return try body()
    } catch {
        throw error.within(place)
    }
}
