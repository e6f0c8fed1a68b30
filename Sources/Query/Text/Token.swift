import Changesets
import RealmState

/// A word of a query's text.
struct Token {
    enum Kind: Equatable {
        case end
        /// A single character that stands for itself: `( ) { } [ ] , . + - * /`
        case symbol(UInt8)
        case compare(ComparisonOperator)
        case and, or, not
        case quantifier(Quantifier)
        case keyword(Keyword)
        /// `[c]`, `[d]`, `[cd]`
        case textFlags(ignoresCase: Bool, ignoresMarks: Bool)
        /// `@count`, `@size`
        case count
        case aggregate(AggregateFunction)
        /// `@links`, `@keys`, `@values`
        case special
        case type
        case constant(Value)
        /// Digits only, which may also be an index.
        case natural(Int64)
        /// The text of a float, which reads differently beside decimals.
        case float(isSingle: Bool)
        case infinity(isNegative: Bool)
        case nan
        case base64([UInt8])
        case string([UInt8])
        case argument(Int)
        case pathArgument(Int)
        /// `O12`, `L3:12`: keys that mean something within one file only.
        case localLink
        case identifier(ByteString)
    }

    var kind: Kind
    var range: Range<Int>
    var offset: Int { range.lowerBound }
}

/// Words that mean something, most of which may be property names as well.
enum Keyword: String {
    case beginsWith = "beginswith"
    case endsWith = "endswith"
    case contains, like, text, between
    case geoWithin = "geowithin"
    case truePredicate = "truepredicate"
    case falsePredicate = "falsepredicate"
    case sort, distinct, limit
    case ascending, descending
    case subquery, obj, binary
    case geoBox = "geobox"
    case geoPolygon = "geopolygon"
    case geoCircle = "geocircle"
    case first, last, size

    /// Whether the word is a name where a path is expected.
    var isName: Bool {
        switch self {
        case .geoWithin, .truePredicate, .falsePredicate, .subquery, .obj, .geoBox, .geoPolygon, .geoCircle: false
        default: true
        }
    }

    /// The string operator that the word is.
    var stringOperator: ComparisonOperator? {
        switch self {
        case .beginsWith: .beginsWith
        case .endsWith: .endsWith
        case .contains: .contains
        case .like: .like
        default: nil
        }
    }
}
