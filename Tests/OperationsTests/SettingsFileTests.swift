import TestSupport
import Testing

@testable import Operations

@Suite struct SettingsFileTests {
    @Test func keysOfNestedMappingsAreJoined() {
        let text = """
            # a comment
            amqp:
              url: amqp://u:p@h/v   # with a colon
            slices: 64
            "store":
                url: 'sqlite:/x'
            gateway:
              host: 0.0.0.0

              public_url: https://sync.example.net
            log.level: debug
            """
        expectEqual(
            SettingsFile.keys(in: text),
            [
                "amqp.url", "slices", "store.url", "gateway.host", "gateway.public_url", "log.level",
            ])
    }

    @Test(arguments: ["", ":", "a", "- a: 1", "\"a", "'", "a:b", "  :", "\u{0}\n\t: x"])
    func whateverIsInTheFileDoesNoHarm(_ text: String) {
        expectTrue(SettingsFile.keys(in: text).count <= 1)
    }
}
