/// What the two clients do. The first four are those of the recorded inputs; each of the others is one hot spot.
enum MergeInputKind: String, CaseIterable {
    /// Integers of 200 objects, each side's own.
    case disjoint
    /// Integers, counters, strings and doubles of the same 200 objects.
    case fields
    /// 20 lists of ten integers: inserts, assignments, erasures, moves, now and then a Clear.
    case lists
    /// Every type of property, sets, dictionaries and lists of eight objects that come and go.
    case mixed
    /// One list of 200: inserts, erasures and assignments.
    case hotList = "hot-list"
    /// The same with moves.
    case hotListMoves = "hot-list-moves"
    /// One list that both sides append to.
    case append
    /// One list that both sides append to and take from the front of.
    case queue
    /// The fields of one object.
    case hotObject = "hot-object"
    case hotSet = "hot-set"
    case hotDictionary = "hot-dictionary"
    /// Lists of embedded objects, and collections in mixed values, with edits inside.
    case nested
    /// Objects created and erased, over and over.
    case createErase = "create-erase"
}
