import Changesets
import RealmState
import TestSupport
import Testing

@Suite struct DeletionTests {
    @Test(arguments: [true, false])
    func everyIncomingLinkGoesBeforeTheObject(indexed: Bool) throws {
        var replica = try Replica(indexingIncomingLinks: indexed)
        let link = Value.link(SampleRealm.target)
        let other = ObjectAddress("U", .string("other"))
        try replica.write { transaction in
            try transaction.createObject(other)
            try transaction.set(SampleRealm.at("link"), to: link)
            try transaction.set(SampleRealm.at("any"), to: link)
            try transaction.set(SampleRealm.at("ll"), to: .list([link, .link(other), link, link]))
            try transaction.set(SampleRealm.at("dl"), to: .dictionary(["k": link, "l": .link(other)]))
            try transaction.set(SampleRealm.at("sl"), to: .set([link, .link(other)]))
            try transaction.set(SampleRealm.at("lm"), to: .list([link, .list([.int(1), link])]))
            try transaction.set(SampleRealm.at("mx"), to: .dictionary(["a": .list([link])]))
            try transaction.insertIntoSet(link, in: SampleRealm.at("sm"))
            try transaction.set(SampleRealm.at("emb"), to: .embedded(StoredObject()))
            try transaction.set(SampleRealm.at("emb", .key("to")), to: link)
        }
        try replica.write { try $0.deleteObject(SampleRealm.target) }
        expectEqual(replica.shape.last, "EraseObject")
        expectEqual(
            replica.shape.filter { $0.hasPrefix("ArrayErase") },
            [
                "ArrayErase 3 4", "ArrayErase 2 3", "ArrayErase 0 2",
            ])
        expectEqual(replica.value("ll"), .list([.link(other)]))
        expectEqual(replica.value("dl"), .dictionary(["k": .null, "l": .link(other)]))
        expectEqual(replica.value("sl"), .set([.link(other)]))
        expectEqual(replica.value("lm"), .list([.null, .list([.int(1), .null])]))
        expectEqual(replica.value("mx"), .dictionary(["a": .list([.null])]))
        expectEqual(replica.value("sm"), .set([]))
        expectEqual(replica.value("emb", .key("to")), .null)
        expectTrue(replica.author.incomingLinks(to: SampleRealm.target).isEmpty)
        expectTrue(!replica.receiver.contains(SampleRealm.target))
    }

    @Test func linksFromTheObjectItselfNeedNoRemoval() throws {
        var replica = try Replica()
        try replica.write { try $0.set(SampleRealm.at("any"), to: .link(SampleRealm.object)) }
        try replica.write { try $0.deleteObject(SampleRealm.object) }
        expectEqual(replica.shape, ["EraseObject"])
    }

    @Test func theIndexSurvivesRollbacks() throws {
        var replica = try Replica()
        try replica.write { try $0.set(SampleRealm.at("link"), to: .link(SampleRealm.target)) }
        let error = replica.failure { transaction in
            try transaction.set(SampleRealm.at("link"), to: .null)
            try transaction.deleteObject(SampleRealm.target)
            try transaction.deleteObject(SampleRealm.target)
        }
        expectEqual(error?.code, .noSuchObject)
        try replica.write { try $0.deleteObject(SampleRealm.target) }
        expectEqual(replica.shape, ["Update(null)", "EraseObject"])
    }

    @Test func theIndexStaysInProportionToTheLinks() throws {
        var replica = try Replica()
        var targets: [ObjectAddress] = []
        try replica.write { transaction in
            for number in 0..<300 {
                targets.append(ObjectAddress("U", .string(ByteString("u\(number)"))))
                try transaction.createObject(targets[number])
            }
            for number in 0..<300 {
                try transaction.createObject(ObjectAddress("T", .int(Int64(100 + number))))
            }
        }
        for round in 0..<30 {
            try replica.write { transaction in
                for number in 0..<300 {
                    let address = FieldAddress(ObjectAddress("T", .int(Int64(100 + number))), "link")
                    try transaction.set(address, to: .link(targets[(number + round) % 300]))
                }
            }
        }
        let links = replica.author.incomingLinks(to: targets[29])
        expectEqual(links.map(\.source), [ObjectAddress("T", .int(100))])
    }
}
