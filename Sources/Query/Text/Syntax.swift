import Changesets
import RealmState

/// A constant as it is written, before the other side's type gives it its own.
indirect enum ConstantSyntax: Sendable {
    case value(Value)
    /// A number with its digits as written, which count beside decimals.
    case double(Double, text: ByteString)
    case argument(Int, Quantifier?)
    /// A value of an argument that is a list.
    case element(of: Int, at: Int)
    case object(className: ByteString, key: ConstantSyntax)
}

struct LocatedConstant: Sendable {
    var constant: ConstantSyntax
    var offset: Int
}

struct ListSyntax: Sendable {
    var elements: [LocatedConstant]
    var quantifier: Quantifier?
    var offset: Int
    /// The argument that stands for the whole list.
    var argument: Int?
}

struct PathSyntax: Sendable {
    enum Element: Sendable {
        /// `.name`, `['name']`
        case key(ByteString)
        case index(Int64)
        case last
        case all
        /// `[$n]`: an index or a name.
        case argument(Int)
        /// `$Kn`: a whole path.
        case path(Int)
    }
    struct LocatedElement: Sendable {
        var element: Element
        var offset: Int
    }
    enum Suffix: Sendable { case none, count, type }

    var elements: [LocatedElement]
    var quantifier: Quantifier?
    var suffix = Suffix.none
    var offset: Int
}

indirect enum ExpressionSyntax: Sendable {
    case constant(LocatedConstant)
    case list(ListSyntax)
    case path(PathSyntax)
    case aggregate(PathSyntax, AggregateFunction, field: ByteString?)
    case subquery(PathSyntax, variable: ByteString, ConditionSyntax)
    case operation(ArithmeticOperator, ExpressionSyntax, ExpressionSyntax, offset: Int)

    var offset: Int {
        switch self {
        case .constant(let constant): constant.offset
        case .list(let list): list.offset
        case .path(let path), .aggregate(let path, _, _), .subquery(let path, _, _): path.offset
        case .operation(_, let left, _, _): left.offset
        }
    }

    var isConstant: Bool {
        switch self {
        case .constant, .list: true
        case .operation(_, let left, let right, _): left.isConstant && right.isConstant
        case .path, .aggregate, .subquery: false
        }
    }
}

/// A condition as it is written. Chains of one operator are flat, however long: `a and b and c` is one node.
indirect enum ConditionSyntax: Sendable {
    struct Comparison: Sendable {
        var op: ComparisonOperator
        var ignoresCase: Bool
        var ignoresMarks = false
        var left: ExpressionSyntax
        var right: ExpressionSyntax
        /// The position of the operator in the text.
        var offset: Int
    }

    case constant(Bool)
    /// The parts in the order of the text; each associates with all before it.
    case all([ConditionSyntax])
    case any([ConditionSyntax])
    case not(ConditionSyntax)
    case comparison(Comparison)
    case between(ExpressionSyntax, ListSyntax, offset: Int)
    case fullText(ExpressionSyntax, ExpressionSyntax, offset: Int)
    case geoWithin(PathSyntax, GeoSyntax, offset: Int)
}

enum GeoSyntax: Sendable {
    enum Coordinate: Sendable {
        case number(Double)
        case argument(Int)
    }
    struct Point: Sendable {
        var longitude: Coordinate
        var latitude: Coordinate
        var offset: Int
    }

    case box(Point, Point)
    case circle(Point, radius: Coordinate)
    case polygon([[Point]])
    case argument(Int)
}

/// A clause that follows a condition.
enum ArrangementSyntax: Sendable {
    case sort([(path: PathSyntax, ascending: Bool)])
    case distinct([PathSyntax])
    case limit(Int64)
}

struct QuerySyntax: Sendable {
    var condition: ConditionSyntax
    var arrangement: [ArrangementSyntax]
}
