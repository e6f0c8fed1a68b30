import Changesets

/// The end of a path of a replayed instruction on the fresh copy.
struct ReplayPlace {
    /// The path with its list indexes translated.
    var path: FieldPath
    private(set) var cursor: FieldCursor
    /// The place's own path if it can be a list that is tracked; nil below an element that the replay inserted, where
    /// everything is local.
    private(set) var tracked: ListPath?

    init(_ path: FieldPath, _ cursor: FieldCursor, tracked: ListPath) {
        self.path = path
        self.cursor = cursor
        self.tracked = tracked
    }

    var place: RecordedPlace { cursor.place }
    /// What stands there; nil for a dictionary key that does not exist.
    var value: Value? { cursor.value }
    /// Whether the place is a whole collection property.
    var isCollectionField: Bool { place.kind.collection != .single }

    /// What follows the value of an Update of the place.
    var qualifier: Instruction.Update.Qualifier {
        place.kind == .slot ? .priorSize(UInt32(clamping: place.listCount)) : .isDefault(false)
    }

    /// The path of a slot of the list that the place is.
    func path(to index: Int) -> FieldPath {
        var path = path
        path.path.append(.index(UInt32(clamping: index)))
        return path
    }

    /// Goes one step further in.
    /// - Parameters:
    ///   - element: the step for the instruction's path.
    ///   - step: the same step with its string looked up.
    /// - Throws: `ReplayDrop` if it leads nowhere any more, `ReplayFailure` if it leads to something else.
    mutating func step(_ element: PathElement, _ step: PathStep) throws {
        let outer = self
        do {
            try cursor.step(step)
        } catch {
            switch error.code {
            case .noSuchField: throw ReplayFailure.missing(error.className, error.field)
            case .wrongType where outer.hasFixedShape: throw ReplayFailure.wrongContainer
            default: throw ReplayDrop.path
            }
        }
        // Written by a release that took such keys; the server does not take it.
        guard cursor.keyFault == nil else { throw ReplayDrop.path }
        path.path.append(element)
        // Only elements that the replay inserted are stepped into; below them everything is its own.
        if case .key(let key) = step { tracked?.keys.append(key) } else { tracked = nil }
    }

    /// Whether every side has the same kind of value there: so in a typed property, while the content of a mixed one and
    /// what a link or slot holds may have changed.
    private var hasFixedShape: Bool {
        isCollectionField || (!place.element.isMixed && value != nil && value != .null)
    }
}

/// Why an instruction is left out.
enum ReplayDrop: Error {
    case missingObject, path, link, ambiguousList
}

extension ReplayFailure {
    static let wrongContainer = ReplayFailure(description: "a path ends in the wrong kind of container")

    static func missing(_ className: ByteString, _ field: ByteString? = nil) -> ReplayFailure {
        let name = field.map { "property '\(className).\($0)'" } ?? "class '\(className)'"
        return ReplayFailure(description: "\(name) does not exist on the server")
    }
}
