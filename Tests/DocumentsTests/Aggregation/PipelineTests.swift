import Changesets
import ExtendedJSON
import SeededRandom
import TestSupport
import Testing

@testable import Documents

@Suite struct PipelineTests {
    private static let documents = [
        #"{"_id":1,"kind":"a","n":3,"place":{"city":"Oslo"},"tags":["x","y"],"items":[{"q":1},{"q":2}]}"#,
        #"{"_id":2,"kind":"b","n":1.5,"place":{"city":"Rome"},"tags":[],"items":[]}"#,
        #"{"_id":3,"kind":"a","n":{"$numberLong":"9223372036854775807"},"place":null,"tags":["y"],"items":[{"q":5}]}"#,
        #"{"_id":4,"kind":"c","n":null,"place":{"city":"Oslo"},"tags":["z"],"items":[{"q":2}]}"#,
        #"{"_id":5,"kind":"b","n":{"$numberDecimal":"2.25"},"place":{"city":"Rome"},"tags":["x"],"items":[{"q":7}]}"#,
    ]

    private func run(_ stages: String, limits: PipelineLimits = PipelineLimits()) throws -> String {
        let parsed = try ExtendedJSONParser.parse(Array(stages.utf8))
        var run = PipelineRun(try Pipeline(parsed.array ?? [], limits: limits))
        for text in Self.documents where run.wantsMore {
            try run.take(ExtendedJSONParser.parseDocument(Array(text.utf8)))
        }
        return ExtendedJSONWriter.text(of: .array(try run.finish().map { .document($0) }))
    }

    static let pipelines: [(String, String)] = [
        (
            #"[{"$group":{"_id":"$kind","count":{"$sum":1},"first":{"$first":"$_id"},"ids":{"$push":"$_id"}}},{"$sort":{"_id":1}}]"#,
            #"[{"_id":"a","count":2,"first":1,"ids":[1,3]},{"_id":"b","count":2,"first":2,"ids":[2,5]},{"_id":"c","count":1,"first":4,"ids":[4]}]"#
        ),
        // An integer that is too large becomes a double; what is no number counts for nothing.
        (
            #"[{"$group":{"_id":"$kind","sum":{"$sum":"$n"},"least":{"$min":"$n"},"most":{"$max":"$n"},"mean":{"$avg":"$n"}}},{"$sort":{"_id":-1}},{"$limit":2}]"#,
            #"[{"_id":"c","sum":0,"least":null,"most":null,"mean":null},{"_id":"b","sum":{"$numberDecimal":"3.75"},"least":1.5,"most":{"$numberDecimal":"2.25"},"mean":{"$numberDecimal":"1.875"}}]"#
        ),
        (
            #"[{"$group":{"_id":{"city":"$place.city"},"n":{"$sum":1}}},{"$match":{"n":{"$gt":1}}},{"$project":{"_id":0,"where":"$_id.city","n":1}}]"#,
            #"[{"where":"Oslo","n":2},{"where":"Rome","n":2}]"#
        ),
        (#"[{"$group":{"_id":null,"all":{"$sum":2}}}]"#, #"[{"_id":null,"all":10}]"#),
        (
            #"[{"$sort":{"place.city":1,"_id":-1}},{"$skip":1},{"$limit":2},{"$project":{"_id":1}}]"#,
            #"[{"_id":4},{"_id":1}]"#
        ),
        (#"[{"$skip":1},{"$count":"left"}]"#, #"[{"left":4}]"#),
        (#"[{"$skip":5},{"$count":"left"}]"#, "[]"),
        (
            #"[{"$limit":1},{"$project":{"items.q":1,"place":{"town":"$place.city","kind":"$kind"},"one":{"$literal":"$x"}}}]"#,
            #"[{"_id":1,"items":[{"q":1},{"q":2}],"place":{"town":"Oslo","kind":"a"},"one":"$x"}]"#
        ),
        (
            #"[{"$limit":1},{"$project":{"_id":0,"items.q":0,"place.city":0,"tags":0}}]"#,
            #"[{"kind":"a","n":3,"place":{},"items":[{},{}]}]"#
        ),
        (
            #"[{"$limit":9},{"$match":{"items.q":{"$gte":5},"kind":{"$ne":"b"}}},{"$project":{"_id":1}}]"#,
            #"[{"_id":3}]"#
        ),
        (
            #"[{"$limit":9},{"$match":{"$or":[{"place":null},{"tags":{"$in":["z"]}},{"n":{"$not":{"$exists":true}}}]}},{"$project":{"_id":1}}]"#,
            #"[{"_id":3},{"_id":4}]"#
        ),
        (#"[{"$limit":9},{"$match":{"n":{"$lt":3}}},{"$project":{"_id":1}}]"#, #"[{"_id":2},{"_id":5}]"#),
        (
            #"[{"$limit":1},{"$group":{"_id":1,"all":{"$push":"$$ROOT"}}},{"$project":{"all._id":1,"_id":0}}]"#,
            #"[{"all":[{"_id":1}]}]"#
        ),
    ]

    @Test(arguments: pipelines)
    func stagesDoWhatMongoDBsDo(pipeline: String, result: String) throws {
        expectEqual(try run(pipeline), result)
    }

    static let mistakes: [(String, String)] = [
        (#"[1]"#, #"[0]: expected an object with one stage, such as {"$limit": 10}"#),
        (#"[{"$limit":1,"$skip":1}]"#, #"[0]: expected an object with one stage, such as {"$limit": 10}"#),
        (
            #"[{"$limit":1},{"$lookup":{}}]"#,
            "[1].$lookup: $lookup is not supported, expected $match, $sort, $skip, $limit, $project, $count or $group"
        ),
        (#"[{"$limit":0}]"#, "[0].$limit: expected a number from 1 on, came int"),
        (#"[{"$group":{"n":{"$sum":1}}}]"#, "[0].$group: expected _id: what to group by, or null for all"),
        (
            #"[{"$group":{"_id":1,"n":{"$last":"$n"}}}]"#,
            "[0].$group.n.$last: expected one of $sum, $avg, $min, $max, $first, $push, came $last"
        ),
        (
            #"[{"$group":{"_id":{"$add":[1,2]}}}]"#,
            "[0].$group._id: $add is not supported here, expected a field, a constant, or $literal"
        ),
        (#"[{"$sort":{"n":2}}]"#, "[0].$sort.n: expected 1 for ascending or -1 for descending, came int"),
        (
            #"[{"$limit":1},{"$match":{"n":{"$where":1}}}]"#,
            "[1].$match.n.$where: $where is not supported behind the first stage, expected $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists or $not"
        ),
        (#"[{"$project":{"a":1,"b":0}}]"#, "[0].$project: expected all fields to be shown, or all to be left out"),
        (#"[{"$project":{"a":1,"a.b":1}}]"#, #"[0].$project["a.b"]: expected fields apart from each other"#),
        (#"[{"$count":""}]"#, "[0].$count: expected a name without dots and $"),
    ]

    @Test(arguments: mistakes)
    func mistakesNameTheStage(pipeline: String, message: String) {
        do {
            _ = try run(pipeline)
            expectTrue(false, "no error")
        } catch {
            expectEqual((error as? DocumentError)?.description, message)
        }
    }

    @Test func nothingIsHeldBeyondItsBounds() throws {
        func code(_ pipeline: String, _ limits: PipelineLimits) -> DocumentError.Code? {
            do {
                _ = try run(pipeline, limits: limits)
                return nil
            } catch {
                return (error as? DocumentError)?.code
            }
        }
        let all = #"[{"$sort":{"n":1}},{"$project":{"_id":1}}]"#
        expectEqual(code(all, PipelineLimits(heldBytes: 1_000)), .limit)
        expectEqual(code(all, PipelineLimits(results: 4)), .limit)
        expectEqual(code(all, PipelineLimits(resultBytes: 100)), .limit)
        expectEqual(code(#"[{"$group":{"_id":"$_id"}}]"#, PipelineLimits(groups: 4)), .limit)
        expectEqual(code(#"[{"$group":{"_id":1,"all":{"$push":"$$ROOT"}}}]"#, PipelineLimits(heldBytes: 1_000)), .limit)
        expectEqual(code(#"[{"$limit":1},{"$limit":1}]"#, PipelineLimits(stages: 1)), .limit)
        // What is only passed on takes no room.
        expectEqual(code(#"[{"$count":"n"}]"#, PipelineLimits(heldBytes: 0, results: 1)), nil)
    }

    @Test func aPipelineThatHasEnoughWantsNoMore() throws {
        var run = PipelineRun(try Pipeline([["$limit": 2], ["$group": ["_id": "$kind"]]]))
        for key in 0..<2 {
            expectTrue(run.wantsMore)
            try run.take(["_id": BSONValue(Int64(key)), "kind": "a"])
        }
        expectTrue(!run.wantsMore)
        // Nothing is known before a sort has everything.
        let sorting = PipelineRun(try Pipeline([["$sort": ["n": 1]], ["$limit": 1]]))
        expectTrue(sorting.wantsMore)
    }

    @Test func onlyTheFieldsThatAreLookedAtAreNeeded() throws {
        func fields(_ stages: [BSONValue]) throws -> [String]? {
            try Pipeline(stages).fields?.map(\.string).sorted()
        }
        expectEqual(try fields([["$match": ["z": 1]], ["$count": "n"]]), [])
        expectEqual(
            try fields([
                ["$sort": ["place.city": 1]], ["$group": ["_id": "$kind", "n": ["$sum": "$a.b"]]],
            ]), ["a", "kind", "place"])
        expectEqual(try fields([["$project": ["title": 1]]]), ["_id", "title"])
        expectTrue(try fields([["$limit": 1]]) == nil && fields([["$project": ["title": 0]]]) == nil)
        expectTrue(try fields([["$group": ["_id": 1, "all": ["$push": "$$ROOT"]]]]) == nil)
    }

    /// A sort of which only the first are kept has the same as one of which all are.
    @Test func aLimitChangesNothingOfTheOrder() throws {
        for seed in 0..<4 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var short = PipelineRun(try Pipeline([["$sort": ["n": -1, "m": 1]], ["$skip": 3], ["$limit": 7]]))
            var whole = PipelineRun(try Pipeline([["$sort": ["n": -1, "m": 1]]]))
            for key in 0..<1_500 {
                let document: BSONDocument = [
                    "_id": BSONValue(Int64(key)), "n": BSONValue(Int64(random.below(40))),
                    "m": random.below(2) == 0 ? .null : .double(Double(random.below(3))),
                ]
                try short.take(document)
                try whole.take(document)
            }
            expectEqual(try short.finish(), Array(try whole.finish()[3..<10]), "seed \(seed)")
        }
    }

    @Test func valuesAreOrderedByTypeAndNumbersByWhatTheyAreWorth() throws {
        let ascending = [
            "null", "-1", #"{"$numberDecimal":"-0.5"}"#, "0", "0.5", "1", #"{"$numberLong":"9007199254740993"}"#,
            "\"\"", #""a""#,
            #""b""#, "{}", #"{"a":1}"#, "[]", "[1]", "[1,2]", #"{"$binary":{"base64":"AA==","subType":"00"}}"#,
            #"{"$oid":"000000000000000000000001"}"#, "false", "true", #"{"$date":"1970-01-01T00:00:00Z"}"#,
        ].compactMap { try? ExtendedJSONParser.parse(Array($0.utf8)) }
        for (left, value) in ascending.enumerated() {
            for (right, other) in ascending.enumerated() {
                let order = BSONOrder.compare(value, other)
                expectEqual(order.signum(), (left - right).signum(), "\(value) \(other)")
            }
        }
        for same in [BSONValue.double(2), .int64(2), .decimal128(Decimal128Value(2))] {
            expectEqual(BSONOrder.key(same), .int64(2))
        }
        let half = BSONValue.decimal128(try #require(Decimal128Value("2.50")))
        expectEqual(BSONOrder.key(half), half)
    }
}
