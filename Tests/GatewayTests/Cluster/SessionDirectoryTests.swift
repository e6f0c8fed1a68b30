import Messages
import Storage
import SyncModel
import Synchronization
import Testing

@testable import Gateway

@Suite struct SessionDirectoryTests {
    /// Counts what it is told.
    private final class Sink: SessionSink {
        let told = Mutex<[UInt64]>([])
        func deliver(_ event: SessionEvent, to number: UInt64) { told.withLock { $0.append(number) } }
        func settingsChanged(app: String) { told.withLock { $0.append(0) } }
    }

    @Test func aGenerationIsToldOnlyToSessionsThatAreBehindIt() {
        let directory = SessionDirectory()
        let sink = Sink()
        var numbers: [UInt64] = []
        for (app, generation) in [("tasks", 1), ("tasks", 2), ("tasks", 0), ("shop", 1)] as [(String, UInt64)] {
            let number = directory.nextNumber()
            numbers.append(number)
            directory.add(number, realm: RealmName(app: app, partition: "\"p\(number)\""), sink: sink)
            directory.bound(number, generation: generation)
        }
        directory.deliver(GenerationNotice(app: "tasks", slice: SliceNumber(0), generation: 2, campaign: "c"))
        #expect(sink.told.withLock { $0 } == [numbers[0]])
    }

    @Test func aSettingIsToldOnceToAConnectionOfManySessions() {
        let directory = SessionDirectory()
        let sink = Sink()
        for _ in 0..<3 {
            directory.add(directory.nextNumber(), realm: RealmName(app: "tasks", partition: "\"p\""), sink: sink)
        }
        directory.settingsChanged(app: "tasks")
        #expect(sink.told.withLock { $0 } == [0])
    }
}
