package snarl.maven;

import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import org.apache.maven.AbstractMavenLifecycleParticipant;
import org.apache.maven.MavenExecutionException;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.Plugin;
import org.apache.maven.project.DefaultDependencyResolutionRequest;
import org.apache.maven.project.DependencyResolutionException;
import org.apache.maven.project.DependencyResolutionResult;
import org.apache.maven.project.MavenProject;
import org.apache.maven.project.ProjectDependenciesResolver;
import org.codehaus.plexus.util.xml.Xpp3Dom;
import org.eclipse.aether.artifact.Artifact;
import org.eclipse.aether.graph.Dependency;
import org.eclipse.aether.graph.DependencyNode;

/**
 * Writes down what the compiler of each module would be given, once Maven has read its poms, and ends Maven before it
 * builds anything. The lines are those of crates/project/src/build_paths.rs.
 */
public final class ClassPaths extends AbstractMavenLifecycleParticipant {
    private static final String COMPILER = "org.apache.maven.plugins:maven-compiler-plugin";

    /** Put here by Maven, see components.xml. */
    private ProjectDependenciesResolver resolver;

    @Override
    public void afterProjectsRead(MavenSession session) throws MavenExecutionException {
        String answer = session.getUserProperties().getProperty("snarl.answer");
        if (answer == null) {
            return;
        }
        Map<String, MavenProject> modules = new HashMap<>();
        for (MavenProject module : session.getProjects()) {
            modules.put(key(module.getGroupId(), module.getArtifactId(), module.getVersion()), module);
        }
        try (BufferedWriter to = Files.newBufferedWriter(Paths.get(answer), StandardCharsets.UTF_8)) {
            for (MavenProject module : session.getProjects()) {
                for (String line : told(module, modules, session)) {
                    to.write(line);
                    to.write('\n');
                }
            }
            to.write("end\n");
        } catch (IOException problem) {
            throw new MavenExecutionException("cannot write the answer for Snarl", problem);
        }
        throw new MavenExecutionException("Snarl has its answer; nothing is built", (File) null);
    }

    /** Little of a module whose dependencies cannot be known, because a pom among them is not here. */
    private List<String> told(MavenProject module, Map<String, MavenProject> modules, MavenSession session) {
        DefaultDependencyResolutionRequest request =
                new DefaultDependencyResolutionRequest(module, session.getRepositorySession());
        request.setResolutionFilter((node, parents) -> sibling(node, modules) == null);
        DependencyResolutionResult result;
        try {
            result = resolver.resolve(request);
        } catch (DependencyResolutionException problem) {
            result = problem.getResult();
        }
        List<String> lines = new ArrayList<>();
        lines.add("module " + module.getBasedir());
        if (result == null || !result.getCollectionErrors().isEmpty()) {
            lines.add("unknown");
            return lines;
        }
        for (MavenProject one = module; one != null; one = one.getParent()) {
            if (one.getFile() != null) {
                lines.add("file " + one.getFile());
            }
        }
        String level = level(module, session.getUserProperties());
        if (level != null) {
            lines.add("level " + level);
        }
        module.getCompileSourceRoots().forEach(root -> lines.add("source " + root));
        lines.add("output " + module.getBuild().getOutputDirectory());
        TreeSet<String> siblings = new TreeSet<>();
        collect(result.getDependencyGraph(), modules, siblings);
        siblings.remove("needs " + module.getBasedir());
        lines.addAll(siblings);
        for (Dependency dependency : result.getDependencies()) {
            Artifact artifact = dependency.getArtifact();
            if (isOfProgram(dependency) && artifact.getFile() != null) {
                lines.add("jar " + artifact.getFile());
            }
        }
        for (Dependency dependency : result.getUnresolvedDependencies()) {
            Artifact artifact = dependency.getArtifact();
            if (isOfProgram(dependency)) {
                lines.add("missing " + key(artifact.getGroupId(), artifact.getArtifactId(), artifact.getVersion()));
            }
        }
        return lines;
    }

    private static void collect(DependencyNode node, Map<String, MavenProject> modules, TreeSet<String> into) {
        for (DependencyNode child : node.getChildren()) {
            MavenProject sibling = sibling(child, modules);
            if (sibling != null && isOfProgram(child.getDependency())) {
                boolean isOfTests = "tests".equals(child.getArtifact().getClassifier());
                into.add(
                        isOfTests
                                ? "jar " + sibling.getBuild().getTestOutputDirectory()
                                : "needs " + sibling.getBasedir());
            }
            if (!isForTests(child.getDependency())) {
                collect(child, modules, into);
            }
        }
    }

    private static boolean isOfProgram(Dependency dependency) {
        return !isForTests(dependency) && !"pom".equals(dependency.getArtifact().getExtension());
    }

    private static boolean isForTests(Dependency dependency) {
        return "test".equals(dependency.getScope());
    }

    private static MavenProject sibling(DependencyNode node, Map<String, MavenProject> modules) {
        Artifact artifact = node.getArtifact();
        return artifact == null
                ? null
                : modules.get(key(artifact.getGroupId(), artifact.getArtifactId(), artifact.getBaseVersion()));
    }

    private static String key(String group, String artifact, String version) {
        return group + ":" + artifact + ":" + version;
    }

    private static String level(MavenProject module, Properties arguments) {
        Plugin plugin = module.getPlugin(COMPILER);
        Object configuration = plugin == null ? null : plugin.getConfiguration();
        for (String name : new String[] {"release", "source", "target"}) {
            Xpp3Dom said = configuration instanceof Xpp3Dom ? ((Xpp3Dom) configuration).getChild(name) : null;
            String value = said == null ? null : said.getValue();
            String property = "maven.compiler." + name;
            value = value == null ? arguments.getProperty(property) : value;
            value = value == null ? module.getProperties().getProperty(property) : value;
            if (value != null && !value.trim().isEmpty()) {
                return value.trim();
            }
        }
        return null;
    }
}
