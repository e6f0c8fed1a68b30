import MergeConformance
import SyncModel
import TestSupport
import Testing

@testable import DeviceSync

/// What the fuzzers have found to be of interest in JSON, as the SDK reads it of a server.
@Suite struct ExtendedJSONCorpusTests {
    @Test func nothingThatAServerSendsTraps() throws {
        let corpus = try FuzzCorpus("json").bytes
        var changes = ChangedInputs(of: corpus)
        var read = 0
        for bytes in corpus + (0..<2_000).map({ _ in changes.next() }) {
            let text = String(decoding: bytes, as: UTF8.self)
            _ = AccessToken("h.\(text).s")
            guard let json = try? JSONParser.parse(bytes) else { continue }
            _ = AnyBSON(extendedJSON: json)
            read += 1
        }
        expectTrue(read > 100)
    }
}
