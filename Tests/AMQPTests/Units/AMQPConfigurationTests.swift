import AMQP
import TestSupport
import Testing

@Suite struct AMQPConfigurationTests {
    @Test func addressWithEverythingIsRead() throws {
        let url =
            "amqp://us%40er:p%2Fa%3Ass@broker.example:5673/my%2Fhost?heartbeat=7&connection_timeout=1500&channel_max=99&name=gw"
        let configuration = try AMQPConfiguration(url: url)
        expectEqual(configuration.endpoints, [.init(host: "broker.example", port: 5673)])
        expectEqual(configuration.credentials, .plain(user: "us@er", password: "p/a:ss"))
        expectEqual(configuration.virtualHost, "my/host")
        expectEqual(configuration.heartbeat, .seconds(7))
        expectEqual(configuration.connectTimeout, .milliseconds(1500))
        expectEqual(configuration.channelMax, 99)
        expectEqual(configuration.connectionName, "gw")
        expectTrue(configuration.tls == nil)
    }

    @Test(arguments: ["amqp://", "amqp:///", "amqp://localhost", "amqp://localhost:5672/", "amqp://guest:guest@/"])
    func omittedURLPartsTakeTheirDefaults(url: String) throws {
        let configuration = try AMQPConfiguration(url: url)
        expectEqual(configuration.endpoints, [.init(host: "localhost", port: 5672)])
        expectEqual(configuration.credentials, .plain(user: "guest", password: "guest"))
        expectEqual(configuration.virtualHost, "/")
    }

    @Test func encodedSlashIsTheDefaultVirtualHost() throws {
        try expectEqual(AMQPConfiguration(url: "amqp://localhost/%2F").virtualHost, "/")
        try expectEqual(AMQPConfiguration(url: "amqp://localhost/%2f?heartbeat=500ms").heartbeat, .milliseconds(500))
    }

    @Test func severalHostsAndIPv6AreRead() throws {
        let configuration = try AMQPConfiguration(url: "amqp://u:p@a:1,b,[::1]:3,[fe80::2]/v")
        expectEqual(
            configuration.endpoints,
            [
                .init(host: "a", port: 1), .init(host: "b", port: 5672), .init(host: "::1", port: 3),
                .init(host: "fe80::2", port: 5672),
            ])
        expectEqual(configuration.description, "amqp://u@a:1,b:5672,[::1]:3,[fe80::2]:5672/v")
    }

    @Test func tlsIsConfiguredByTheAddress() throws {
        let url =
            "amqps://host?cacertfile=/ca.pem&certfile=/c.pem&keyfile=/k.pem&verify=verify_none&auth_mechanism=external"
        let configuration = try AMQPConfiguration(url: url)
        expectEqual(configuration.endpoints, [.init(host: "host", port: 5671)])
        expectEqual(
            configuration.tls,
            AMQPTLSConfiguration(
                authoritiesFile: "/ca.pem", certificateFile: "/c.pem", keyFile: "/k.pem", verifiesPeer: false,
                verifiesHostname: false))
        expectEqual(configuration.credentials, .external)
        try expectEqual(AMQPConfiguration(url: "amqps://host").tls, AMQPTLSConfiguration())
    }

    @Test(arguments: [
        "", "http://localhost", "localhost:5672", "amqp://h:port", "amqp://h:0", "amqp://h:65536", "amqp://h:-1",
        "amqp://[::1]x", "amqp://u:sesame%zz@h", "amqp://u:sesame%@h", "amqp://u:sesame%ff@h",
        "amqp://u:sesame@h?heartbeat=x",
        "amqp://h?heartbeat=-1", "amqp://h?channel_max=70000", "amqp://h?verify=maybe", "amqp://h?nonsense=1",
        "amqp://u:sesame@h:x", "amqp://h?connection_timeout=99999999999999999999", "amqp://h?frame_max=4095",
        "amqp://h?frame_max=9999999999999",
        // Passwords that should have been encoded.
        "amqp://u:sesame/more@h", "amqp://u:1234/sesame@h", "amqp://u:a?sesame@h", "amqp://u:a?sesame=1@h",
        "amqp://u:a#sesame@h", "amqp://u:a/b?sesame#c@h/v",
        // Keys of TLS without TLS: believing them would send the password in the open.
        "amqp://u:sesame@h?cacertfile=/ca.pem", "amqp://u:sesame@h?verify=verify_peer",
        "amqp://u:sesame@h?auth_mechanism=external",
    ])
    func unreadableURLsAreErrorsWithoutThePassword(url: String) {
        let error = #expect(throws: AMQPError.self) { _ = try AMQPConfiguration(url: url) }
        expectEqual(error?.code, .invalidArgument)
        expectEqual(error?.description.contains("sesame"), false)
    }

    @Test func passwordIsNeverPrinted() throws {
        let configuration = try AMQPConfiguration(url: "amqp://user:sesame@h/v")
        var dumped = ""
        dump(configuration, to: &dumped)
        dump(configuration.credentials, to: &dumped)
        let all = "\(configuration) \(String(reflecting: configuration)) \(configuration.credentials) \(dumped)"
        expectTrue(!all.contains("sesame"))
        expectEqual(configuration.description, "amqp://user@h:5672/v")
    }

    @Test func waitsGrowAndAreCapped() {
        let policy = ReconnectPolicy(base: .milliseconds(500), maximum: .seconds(15))
        expectEqual(policy.delay(beforeAttempt: 1, random: 0), .milliseconds(250))
        expectEqual(policy.delay(beforeAttempt: 1, random: 1), .milliseconds(500))
        expectEqual(policy.delay(beforeAttempt: 3, random: 1), .seconds(2))
        expectEqual(policy.delay(beforeAttempt: 1_000_000, random: 1), .seconds(15))
        expectEqual(policy.delay(beforeAttempt: -5, random: 0.5), .milliseconds(375))
    }
}
